"""Numbers: number words of four languages, units of measure and currencies."""

from typing import Final

WORDS: Final = """
zero=0|one=1|two=2|three=3|four=4|five=5|six=6|seven=7|eight=8|nine=9|ten=10|eleven=11|twelve=12|thirteen=13
fourteen=14|fifteen=15|sixteen=16|seventeen=17|eighteen=18|nineteen=19|twenty=20|thirty=30|forty=40
fourty=40|fifty=50|sixty=60|seventy=70|eighty=80|ninety=90|dozen=12|zwei=2|drei=3|vier=4|funf=5|sechs=6
sieben=7|acht=8|neun=9|zehn=10|elf=11|zwolf=12|zwanzig=20|dreissig=30|vierzig=40|funfzig=50|sechzig=60
siebzig=70|achtzig=80|neunzig=90|dos=2|tres=3|cuatro=4|cinco=5|seis=6|siete=7|ocho=8|nueve=9|diez=10|once=11
doce=12|trece=13|catorce=14|quince=15|veinte=20|treinta=30|cuarenta=40|cincuenta=50|deux=2|trois=3|quatre=4
cinq=5|sept=7|huit=8|neuf=9|dix=10|onze=11|douze=12|treize=13|quatorze=14|quinze=15|seize=16|vingt=20
trente=30|quarante=40|cinquante=50|soixante=60
"""
# Number words of one language that are everyday words of another: read only in their own.
FOREIGN: Final = """
once=es|sept=fr|six=en|elf=de|acht=de|vier=de|dix=fr|dos=es|tres=es|onze=fr|neuf=fr|quince=es|mil=es
mille=fr|cent=fr|drei=de|sechs=de|mn=en|seize=fr
"""
SCALES: Final = """
hundred=100|hundreds=100|thousand=1000|thousands=1000|k=1000|million=1000000|millions=1000000|mil=1000
mn=1000000|billion=1000000000|billions=1000000000|bn=1000000000|trillion=1000000000000|lakh=100000
crore=10000000|hundert=100|tausend=1000|millionen=1000000|milliarden=1000000000|cien=100|ciento=100
millones=1000000|millon=1000000|cent=100|mille=1000|milliards=1000000000|dozens=12
"""
CURRENCIES: Final = """
$=dollar|usd=dollar|dollar=dollar|dollars=dollar|bucks=dollar|€=euro|eur=euro|euro=euro|euros=euro|£=pound
gbp=pound|quid=pound|¥=yuan|￥=yuan|cny=yuan|rmb=yuan|yuan=yuan|jpy=yen|yen=yen|₹=rupee|inr=rupee
rupees=rupee|rupee=rupee|won=won|krw=won|₩=won|chf=franc|francs=franc|rubles=ruble|pesos=peso|peso=peso
aud=australian dollar|cad=canadian dollar|cents=cent|pence=penny|btc=bitcoin|eth=ether|₽=ruble|₿=bitcoin
"""
MEASURES: Final = """
%=%|percent=%|per cent=%|prozent=%|por ciento=%|pour cent=%|km=kilometre|kilometer=kilometre
kilometers=kilometre|kilometre=kilometre|kilometres=kilometre|kms=kilometre|m=metre|meter=metre|meters=metre
metre=metre|metres=metre|cm=centimetre|centimeters=centimetre|mm=millimetre|mile=mile|miles=mile|mi=mile
ft=foot|foot=foot|feet=foot|inch=inch|inches=inch|yard=yard|yards=yard|acres=acre|hectares=hectare
kg=kilogram|kgs=kilogram|kilogram=kilogram|kilograms=kilogram|kilo=kilogram|kilos=kilogram|g=gram|gram=gram
grams=gram|mg=milligram|lb=pound weight|lbs=pound weight|pounds=pound|oz=ounce|ounce=ounce|ounces=ounce
ton=tonne|tons=tonne|tonnes=tonne|l=litre|liter=litre|liters=litre|litre=litre|litres=litre|ml=millilitre
cup=cup|cups=cup|tbsp=tbsp|tsp=tsp|tablespoons=tbsp|teaspoons=tsp|tablespoon=tbsp|teaspoon=tsp|gallon=gallon
gallons=gallon|gb=gigabyte|gig=gigabyte|gigs=gigabyte|gigabytes=gigabyte|mb=megabyte|megs=megabyte
meg=megabyte|tb=terabyte|kb=kilobyte|bytes=byte|mbps=mbps|mhz=megahertz|ghz=gigahertz|hz=hertz|khz=kilohertz
w=watt|kw=kilowatt|kwh=kwh|v=volt|mph=mph|km/h=km/h|kmh=km/h|degrees=degree|degree=degree|°c=°c|°f=°f
°=degree|calories=calorie|kcal=kilocalorie|cal=calorie|bpm=bpm|px=pixel|pixels=pixel|fps=fps|dpi=dpi|x=x
steps=step|points=point|sqm=m2|km2=km2|m2=m2|sq=square|fold=fold|meilen=mile|kilometros=kilometre
metros=metre|gramm=gram|gramos=gram|grammes=gram|litros=litre|stuck=piece|grad=degree|grados=degree
degres=degree
"""
