"""Times: names of months, days, parts of the day and feasts, and the words that move them."""

from typing import Final

# In calendar order; forms of one month stand together.
MONTHS: Final = (
    "january jan januar enero janvier gennaio janeiro januari января январь",
    "february feb februar febrero fevrier febbraio fevereiro februari февраля февраль",
    "march mar marz marzo mars maart марта март",
    "april apr abril avril aprile апреля апрель",
    "may mai mayo maggio maio mei мая май",
    "june jun juni junio juin giugno junho июня июнь",
    "july jul juli julio juillet luglio julho июля июль",
    "august aug agosto aout augustus августа август",
    "september sep sept septiembre septembre settembre setembro сентября сентябрь",
    "october oct oktober octubre octobre ottobre outubro октября октябрь",
    "november nov noviembre novembre novembro ноября ноябрь",
    "december dec dezember diciembre decembre dicembre dezembro декабря декабрь",
)
WEEKDAYS: Final = (
    "monday mon mondays montag montags lunes lundi lunedi maandag понедельник",
    "tuesday tue tues tuesdays dienstag dienstags martes mardi martedi dinsdag вторник",
    "wednesday wed wednesdays mittwoch mittwochs miercoles mercredi mercoledi woensdag среду",
    "thursday thu thur thurs thursdays donnerstag donnerstags jueves jeudi giovedi donderdag четверг",
    "friday fri fridays freitag freitags viernes vendredi venerdi vrijdag пятницу",
    "saturday sat saturdays samstag sonnabend samstags sabado samedi sabato zaterdag субботу",
    "sunday sun sundays sonntag sonntags domingo dimanche domenica zondag воскресенье",
)
# Months and weekdays that are also everyday words: times only beside a number or after a preposition.
DOUBTFUL: Final = """
may|march|mar|mars|mai|mei|mon|wed|sun|sat|jan|jun|dec|sep|sept|augustus|thu|marz|май|mayo|lunes|juni|juli
"""

SEASONS: Final = """
spring|summer|autumn|fall|winter|fruhling|sommer|herbst|primavera|verano|invierno|ete|hiver
"""

# Parts of the day, by the part they mean.
PARTS: Final = """
morning=morning|mornings=morning|noon=noon|midday=noon|lunchtime=noon|afternoon=afternoon
afternoons=afternoon|evening=evening|evenings=evening|night=night|nights=night|midnight=midnight
dawn=morning|dusk=evening|morgen=morning|vormittag=morning|nachmittag=afternoon|abend=evening|nacht=night
mittag=noon|mitternacht=midnight|tarde=afternoon|noche=night|matin=morning|soir=evening|nuit=night|midi=noon
minuit=midnight|apres-midi=afternoon|mediodia=noon|medianoche=midnight
"""

# Days counted from today.
DAYS: Final = """
today=0|tonight=0 night|tomorrow=1|tmrw=1|tmr=1|tomoz=1|2moro=1|tomorow=1|yesterday=-1|heute=0|gestern=-1
vorgestern=-2|ubermorgen=2|hoy=0|ayer=-1|anteayer=-2|pasado manana=2|aujourd'hui=0|hier=-1|demain=1
avant-hier=-2|apres-demain=2|oggi=0|ieri=-1|domani=1|hoje=0|ontem=-1|amanha=1|vandaag=0|gisteren=-1
сегодня=0|вчера=-1|завтра=1|today's=0|tomorrow's=1|yesterday's=-1
"""

# Feasts with a fixed date (month-day) or none.
FEASTS: Final = """
christmas=12-25|christmas day=12-25|christmas eve=12-24|xmas=12-25|new year's eve=12-31|new year's day=01-01
new year's=01-01|new years eve=12-31|new year=01-01|halloween=10-31|valentine's day=02-14
valentines day=02-14|thanksgiving=thanksgiving|easter=easter|easter sunday=easter|good friday=good friday
ramadan=ramadan|eid=eid|diwali=diwali|hanukkah=hanukkah|passover=passover|lunar new year=lunar new year
chinese new year=lunar new year|spring festival=lunar new year|mid-autumn festival=mid-autumn festival
dragon boat festival=dragon boat festival|national day=national day|labor day=labor day
memorial day=memorial day|independence day=07-04|4th of july=07-04|mother's day=mother's day
father's day=father's day|black friday=black friday|cyber monday=cyber monday|st. patrick's day=03-17
weihnachten=12-25|heiligabend=12-24|silvester=12-31|ostern=easter|navidad=12-25|nochebuena=12-24|noel=12-25
singles' day=11-11|double eleven=11-11|double 11=11-11|qixi=qixi|world war i=1914|world war ii=1939
world war 2=1939|world war two=1939|wwii=1939|ww2=1939|wwi=1914|ww1=1914|middle ages=middle ages
the middle ages=middle ages|renaissance=renaissance|the renaissance=renaissance
"""

UNITS: Final = """
second=second|seconds=second|sec=second|secs=second|minute=minute|minutes=minute|min=minute|mins=minute
hour=hour|hours=hour|hr=hour|hrs=hour|day=day|days=day|night=night|nights=night|week=week|weeks=week
weekend=weekend|weekends=weekend|fortnight=fortnight|month=month|months=month|quarter=quarter
quarters=quarter|semester=semester|year=year|years=year|yr=year|yrs=year|decade=decade|decades=decade
century=century|centuries=century|tag=day|tage=day|tagen=day|woche=week|wochen=week|monat=month|monate=month
monaten=month|jahr=year|jahre=year|jahren=year|stunde=hour|stunden=hour|minuten=minute|dia=day|dias=day
semana=week|semanas=week|mes=month|meses=month|ano=year|anos=year|hora=hour|horas=hour|minuto=minute
minutos=minute|jour=day|jours=day|semaine=week|semaines=week|mois=month|an=year|ans=year|annee=year
annees=year|heure=hour|heures=hour|millisecond=millisecond|milliseconds=millisecond|ms=millisecond
"""

# Words before a unit or a weekday that move it.
SHIFTS: Final = """
last=-1|past=-1|previous=-1|this=0|current=0|next=1|coming=1|following=1|upcoming=1|letzte=-1|letzten=-1
letztes=-1|diese=0|diesen=0|dieses=0|nachste=1|nachsten=1|nachstes=1|kommende=1|kommenden=1|este=0|esta=0
proximo=1|proxima=1|ce=0|cette=0|cet=0|later this=0|earlier this=0|early this=0|late last=-1
"""
