"""Places: countries, regions, cities and sights, the nouns that end a place's name, and venues."""

from typing import Final

COUNTRIES: Final = """
afghanistan|albania|algeria|andorra|angola|argentina|armenia|australia|austria|azerbaijan|bahamas|bahrain
bangladesh|barbados|belarus|belgium|belize|benin|bhutan|bolivia|bosnia|bosnia and herzegovina|botswana
brazil|brunei|bulgaria|burkina faso|burundi|cambodia|cameroon|canada|cape verde|chad|chile|china|colombia
congo|costa rica|croatia|cuba|cyprus|czech republic|czechia|denmark|djibouti|dominican republic|ecuador
egypt|el salvador|eritrea|estonia|eswatini|ethiopia|fiji|finland|france|gabon|gambia|georgia|germany|ghana
greece|greenland|grenada|guatemala|guinea|guyana|haiti|honduras|hong kong|hungary|iceland|india|indonesia
iran|iraq|ireland|northern ireland|israel|italy|ivory coast|jamaica|japan|jordan|kazakhstan|kenya|kosovo
kuwait|kyrgyzstan|laos|latvia|lebanon|lesotho|liberia|libya|liechtenstein|lithuania|luxembourg|macau
macedonia|madagascar|malawi|malaysia|maldives|mali|malta|mauritania|mauritius|mexico|moldova|monaco|mongolia
montenegro|morocco|mozambique|myanmar|burma|namibia|nepal|netherlands|the netherlands|holland|new zealand
nicaragua|niger|nigeria|north korea|norway|oman|pakistan|palestine|panama|papua new guinea|paraguay|peru
philippines|the philippines|poland|portugal|puerto rico|qatar|romania|russia|rwanda|samoa|saudi arabia
scotland|senegal|serbia|seychelles|sierra leone|singapore|slovakia|slovenia|somalia|south africa|south korea
korea|south sudan|spain|sri lanka|sudan|suriname|sweden|switzerland|syria|taiwan|tajikistan|tanzania
thailand|tibet|togo|tonga|trinidad|trinidad and tobago|tunisia|turkey|turkmenistan|uganda|ukraine
united arab emirates|uae=united arab emirates|united kingdom|uk=united kingdom|u.k.=united kingdom
great britain=united kingdom|britain=united kingdom|england|wales|united states
united states of america=united states|usa=united states|u.s.a.=united states|u.s.=united states
us=united states|the us=united states|the states=united states|america=united states|uruguay|uzbekistan
vanuatu|vatican|vatican city|venezuela|vietnam|yemen|zambia|zimbabwe|soviet union|ussr|yugoslavia
czechoslovakia|prussia|ottoman empire|roman empire|byzantium|mesopotamia|persia|crimea|bavaria
deutschland=germany|osterreich=austria|schweiz=switzerland|frankreich=france|italien=italy|spanien=spain
griechenland=greece|turkei=turkey|polen=poland|russland=russia|niederlande=netherlands|belgien=belgium
danemark=denmark|schweden=sweden|norwegen=norway|espana=spain|francia=france|alemania=germany|italia=italy
inglaterra=england|estados unidos=united states|ee.uu.=united states|mejico=mexico|grecia=greece
turquia=turkey|japon=japan|brasil=brazil|suiza=switzerland|allemagne=germany|espagne=spain|italie=italy
angleterre=england|etats-unis=united states|royaume-uni=united kingdom|belgique=belgium|suisse=switzerland
grece=greece|russie=russia|chine=china|maroc=morocco|bresil=brazil
"""

# Continents, states, provinces and regions.
REGIONS: Final = """
africa|asia|europe|antarctica|oceania|north america|south america|latin america|central america|middle east
the middle east|far east|southeast asia|south asia|east asia|central asia|north africa|west africa
east africa|sub-saharan africa|western europe|eastern europe|northern europe|scandinavia|the caribbean
caribbean|mediterranean|balkans|the balkans|siberia|arctic|patagonia|polynesia|micronesia|alabama|alaska
arizona|arkansas|california|colorado|connecticut|delaware|florida|georgia|hawaii|idaho|illinois|indiana|iowa
kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana
nebraska|nevada|new hampshire|new jersey|new mexico|north carolina|north dakota|ohio|oklahoma|oregon
pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont|virginia|west virginia
washington state|wisconsin|wyoming|cali=california|new england|midwest|the midwest|west coast|east coast
bay area|silicon valley|upstate new york|long island|socal|southern california|northern california|ontario
quebec|british columbia|alberta|manitoba|saskatchewan|nova scotia|new brunswick|newfoundland|yukon
new south wales|queensland|tasmania|western australia|south australia|northern territory|catalonia|andalusia
basque country|galicia|tuscany|sicily|sardinia|lombardy|umbria|provence|normandy|brittany|alsace|burgundy
corsica|saxony|hesse|westphalia|brandenburg|rhineland|tyrol|cornwall|devon|kent|sussex|essex|yorkshire
lancashire|surrey|hampshire|dorset|somerset|norfolk|suffolk|cumbria|northumberland|the midlands|highlands
flanders|wallonia|punjab|kerala|goa|gujarat|rajasthan|maharashtra|tamil nadu|karnataka|bengal|west bengal
bihar|uttar pradesh|kashmir|assam|bali|java|sumatra|borneo|hokkaido|okinawa|honshu|kyushu|guangdong|sichuan
yunnan|zhejiang|jiangsu|hainan|hunan|hubei|henan|hebei|shandong|shanxi|shaanxi|fujian|guangxi|guizhou
liaoning|jilin|heilongjiang|inner mongolia|xinjiang|gansu|anhui|jiangxi|ningxia|qinghai|yucatan|jalisco
oaxaca|chiapas|minas gerais|bahia|transylvania|kurdistan|darfur|zanzibar|canary islands|the canaries
tenerife|mallorca|majorca|ibiza|crete|santorini|mykonos|rhodes|corfu|azores|madeira|bermuda|aruba|curacao
martinique|guadeloupe|galapagos|easter island|maui|oahu|kauai|guam|tahiti|bora bora|phuket|koh samui|jeju
isle of man|isle of wight|jersey|guernsey|channel islands|orkney|shetland|faroe islands|svalbard|lapland
gotland|gibraltar|gaza|west bank
"""

CITIES: Final = """
new york|new york city=new york|nyc=new york|manhattan|brooklyn|queens|the bronx|bronx|staten island|harlem
los angeles|la=los angeles|l.a.=los angeles|hollywood|santa monica|malibu|beverly hills|burbank|pasadena
san francisco|sf=san francisco|san fran=san francisco|san diego|san jose|oakland|berkeley|palo alto
mountain view|cupertino|sacramento|fresno|long beach|anaheim|santa barbara|santa cruz|monterey|napa|sonoma
chicago|houston|dallas|austin|san antonio|fort worth|el paso|philadelphia|philly=philadelphia|pittsburgh
phoenix|tucson|scottsdale|sedona|flagstaff|seattle|tacoma|spokane|portland|denver|boulder|aspen|vail
salt lake city|las vegas|vegas=las vegas|reno|albuquerque|santa fe|boston|cambridge|salem|providence
hartford|new haven|buffalo|rochester|syracuse|albany|ithaca|baltimore|annapolis|richmond|norfolk|washington
washington dc=washington|washington d.c.=washington|washington, d.c.=washington|washington, dc=washington
dc=washington|d.c.=washington|charlotte|raleigh|durham|asheville|charleston|savannah|atlanta|orlando|miami
tampa|jacksonville|tallahassee|key west|fort lauderdale|west palm beach|naples|sarasota|pensacola|nashville
memphis|knoxville|chattanooga|louisville|lexington|cincinnati|columbus|cleveland|toledo|dayton|akron|detroit
ann arbor|grand rapids|lansing|indianapolis|milwaukee|madison|minneapolis|st. paul|saint paul|des moines
omaha|lincoln|kansas city|st. louis|st louis|saint louis|new orleans|baton rouge|birmingham|montgomery
mobile|jackson|little rock|tulsa|oklahoma city|boise|billings|cheyenne|anchorage|juneau|honolulu|newark
jersey city|hoboken|princeton|trenton|stamford|toronto|montreal|vancouver|ottawa|calgary|edmonton|winnipeg
halifax|victoria|quebec city|hamilton|regina|saskatoon|mississauga|whistler|banff|mexico city
cdmx=mexico city|guadalajara|monterrey|cancun|tijuana|puebla|acapulco|tulum|cabo|puerto vallarta|havana
kingston|nassau|san juan|santo domingo|port-au-prince|panama city|guatemala city|san salvador|managua
tegucigalpa|bogota|medellin|cali|cartagena|quito|guayaquil|lima|cusco|machu picchu|la paz|santiago
valparaiso|buenos aires|cordoba|rosario|mendoza|montevideo|asuncion|caracas|sao paulo|rio de janeiro
rio=rio de janeiro|brasilia|salvador|recife|fortaleza|belo horizonte|curitiba|porto alegre|manaus|london
westminster|camden|soho|greenwich|oxford|manchester|liverpool|leeds|sheffield|bristol|newcastle|nottingham
leicester|coventry|brighton|southampton|portsmouth|plymouth|bath|exeter|york|norwich|stratford|canterbury
windsor|blackpool|edinburgh|glasgow|aberdeen|dundee|inverness|st andrews|cardiff|swansea|belfast|derry
dublin|cork|galway|limerick|paris|marseille|lyon|toulouse|nice|nantes|strasbourg|bordeaux|lille|rennes
montpellier|cannes|avignon|versailles|grenoble|dijon|reims|le havre|berlin|hamburg|munich|munchen=munich
muenchen=munich|cologne|koln=cologne|koeln=cologne|frankfurt|stuttgart|dusseldorf|dortmund|essen|leipzig
bremen|dresden|hannover|hanover|nuremberg|nurnberg=nuremberg|bonn|freiburg|heidelberg|potsdam|weimar|mainz
kiel|lubeck|rostock|augsburg|karlsruhe|mannheim|munster|vienna|wien=vienna|salzburg|innsbruck|graz|linz
zurich|geneva|basel|bern|lausanne|lucerne|rome|roma=rome|milan|milano=milan|florence|firenze=florence|venice
venezia=venice|napoli=naples|turin|torino=turin|bologna|verona|pisa|siena|genoa|palermo|bari|catania|amalfi
sorrento|capri|madrid|barcelona|valencia|seville|sevilla=seville|granada|malaga|bilbao|zaragoza
san sebastian|salamanca|cadiz|palma|lisbon|lisboa=lisbon|porto|faro|sintra|amsterdam|rotterdam|the hague
utrecht|eindhoven|leiden|delft|brussels|antwerp|ghent|bruges|copenhagen|aarhus|stockholm|gothenburg|malmo
uppsala|oslo|bergen|trondheim|helsinki|tampere|reykjavik|warsaw|krakow|cracow|gdansk|wroclaw|poznan|lodz
prague|praha=prague|brno|bratislava|budapest|bucharest|cluj|sofia|belgrade|zagreb|split|dubrovnik|ljubljana
sarajevo|skopje|tirana|pristina|athens|thessaloniki|istanbul|constantinople|ankara|izmir|antalya|cappadocia
nicosia|valletta|moscow|st. petersburg|saint petersburg|st petersburg|leningrad|novosibirsk|kazan|sochi
vladivostok|kyiv|kiev=kyiv|lviv|odessa|odesa|kharkiv|donetsk|minsk|vilnius|riga|tallinn|chisinau|tbilisi
yerevan|baku|tashkent|samarkand|almaty|astana|bishkek|kabul|kandahar|islamabad|karachi|lahore|peshawar
new delhi|delhi|old delhi|mumbai|bombay=mumbai|bangalore|bengaluru=bangalore|chennai|madras=chennai|kolkata
calcutta=kolkata|hyderabad|pune|ahmedabad|jaipur|lucknow|kochi|agra|varanasi|goa|udaipur|chandigarh
kathmandu|pokhara|dhaka|chittagong|colombo|kandy|yangon|rangoon|mandalay|bangkok|chiang mai|pattaya
phnom penh|siem reap|angkor wat|vientiane|luang prabang|hanoi|ho chi minh city|saigon|da nang|hoi an
kuala lumpur|penang|malacca|jakarta|bandung|surabaya|yogyakarta|ubud|manila|cebu|davao|beijing
peking=beijing|shanghai|guangzhou|canton|shenzhen|chengdu|chongqing|wuhan|hangzhou|nanjing|xi'an|xian=xi'an
tianjin|suzhou|qingdao|dalian|shenyang|harbin|changsha|zhengzhou|kunming|xiamen|fuzhou|ningbo|wuxi|jinan
hefei|nanchang|guiyang|nanning|haikou|sanya|lhasa|urumqi|lanzhou|dongguan|foshan|zhuhai|wenzhou|lijiang
guilin|moganshan|pudong|taipei|kaohsiung|taichung|tainan|kowloon|tokyo|osaka|kyoto|nara|yokohama|kobe|nagoya
sapporo|fukuoka|hiroshima|nagasaki|sendai|hakone|shibuya|shinjuku|akihabara|seoul|busan|incheon|daegu
gangnam|pyongyang|ulaanbaatar|sydney|melbourne|brisbane|perth|adelaide|canberra|hobart|darwin|cairns
gold coast|byron bay|auckland|wellington|christchurch|queenstown|dunedin|suva|cairo|alexandria|giza|luxor
aswan|tripoli|benghazi|tunis|carthage|algiers|casablanca|marrakech|marrakesh|fez|rabat|tangier|dakar|bamako
accra|lagos|abuja|ibadan|kano|nairobi|mombasa|kampala|kigali|dar es salaam|dodoma|addis ababa|mogadishu
khartoum|kinshasa|luanda|lusaka|harare|gaborone|windhoek|johannesburg|joburg|cape town|durban|pretoria
soweto|maputo|antananarivo|jerusalem|tel aviv|haifa|bethlehem|nazareth|ramallah|beirut|damascus|aleppo
palmyra|amman|petra|baghdad|mosul|basra|babylon|tehran|isfahan|shiraz|persepolis|riyadh|jeddah|mecca|medina
dubai|abu dhabi|doha|kuwait city|manama|muscat|sanaa|aden|pompeii|troy|sparta|hong kong island|wall street
times square|broadway|fifth avenue|silicon beach|venice beach|south beach|napa valley|yosemite valley
death valley|hyde park|central park|golden gate park|trafalgar square|piccadilly circus|notting hill
covent garden|champs-elysees|montmartre|le marais|red square|tiananmen square|the bund|west lake|the strip
lake tahoe|mammoth|big sur|joshua tree|palm springs|the hamptons
"""

# Sights, waters, heights and buildings known by name.
SIGHTS: Final = """
eiffel tower|arc de triomphe|notre dame|notre-dame|louvre|the louvre|pont du gard|mont saint-michel|big ben
tower bridge|buckingham palace|stonehenge|hadrian's wall|colosseum|the colosseum|pantheon|leaning tower
leaning tower of pisa|sistine chapel|st. peter's basilica|trevi fountain|acropolis|parthenon|sagrada familia
alhambra|brandenburg gate|checkpoint charlie|berlin wall|neuschwanstein|matterhorn|mont blanc|the alps|alps
pyrenees|the pyrenees|dolomites|carpathians|urals|caucasus|himalayas|the himalayas|everest|mount everest
mt everest|k2|kilimanjaro|mount kilimanjaro|mount fuji|mt fuji|fuji|andes|the andes|rockies|the rockies
rocky mountains|appalachians|sierra nevada|yellowstone|yosemite|grand canyon|the grand canyon|zion
bryce canyon|glacier national park|everglades|niagara falls|mount rushmore|statue of liberty
empire state building|golden gate bridge|golden gate|brooklyn bridge|white house|the white house
the pentagon|capitol hill|lincoln memorial|alcatraz|space needle|hollywood sign|disneyland|disney world
disneyworld|universal studios|legoland|seaworld|forbidden city|great wall|great wall of china|taj mahal
angkor wat|borobudur|burj khalifa|petra|pyramids|the pyramids|sphinx|sahara|the sahara|gobi|kalahari
serengeti|amazon rainforest|amazon river|great barrier reef|uluru|sydney opera house|atlantic|the atlantic
atlantic ocean|pacific|the pacific|pacific ocean|indian ocean|arctic ocean|mediterranean sea|black sea
red sea|dead sea|baltic|baltic sea|north sea|caspian sea|caribbean sea|south china sea|persian gulf
gulf of mexico|english channel|bering strait|suez canal|panama canal|nile|the nile|danube|rhine|thames
the thames|seine|loire|rhone|elbe|volga|ganges|indus|mekong|yangtze|yellow river|euphrates|tigris
mississippi river|missouri river|rio grande|hudson river|hudson|potomac|lake superior|lake michigan
lake ontario|lake erie|lake huron|lake victoria|loch ness|lake como|lake geneva|madison square garden
wembley|old trafford|anfield|camp nou|fenway park|wrigley field|yankee stadium|wimbledon|moma|the met
smithsonian|hermitage|prado|uffizi|rijksmuseum|british museum|tate modern|heathrow|gatwick|jfk=jfk airport
lax|laguardia|o'hare|changi|kings cross|king's cross|penn station|grand central|grand central station
union station|mars|the moon
"""

# The last word of a place's name: "Main Street", "Lake Garden", "Jinyu East Road".
HEADS: Final = """
street|st|road|rd|avenue|ave|lane|drive|boulevard|blvd|highway|hwy|freeway|parkway|alley|crescent|plaza
square|park|garden|gardens|beach|bay|lake|river|creek|falls|waterfall|island|islands|isle|mountain|mountains
mount|hill|hills|valley|canyon|peak|ridge|forest|woods|desert|ocean|sea|gulf|strait|canal|harbor|harbour
port|pier|coast|cape|cove|glacier|volcano|reef|springs|spring|trail|bridge|tunnel|tower|towers|castle|palace
temple|shrine|cathedral|church|chapel|basilica|mosque|synagogue|abbey|monastery|pagoda|museum|gallery
library|theatre|theater|cinema|opera house|stadium|arena|gym|pool|zoo|aquarium|airport|station|terminal|mall
market|supermarket|bazaar|center|centre|hotel|hostel|inn|motel|resort|lodge|restaurant|cafe|café|coffee shop
bistro|diner|bar|pub|bakery|pizzeria|brewery|winery|vineyard|farm|ranch|city|town|village|county|district
province|state|territory|region|prefecture|borough|parish|peninsula|community|residence|apartments|courtyard
campus|cemetery|memorial|monument|fort|fortress|ruins|playground|world|land|wharf|quay|gate|villa|manor
mansion|estate|estates|heights|grove|meadow|meadows|terrace|municipality|area|residential area|new area
rainforest|jungle|reserve|sanctuary|wilderness|quarter|lighthouse|observatory|planetarium|factory|site
pavilion|store|shop|boutique|hall|building|house|tea house|bookstore|pond|rapids|dam|viewpoint|overlook
lookout|hot springs|national park|amusement park|theme park|subway station|train station|bus station
metro station|ferry station|shopping center|sports center|fitness center
"""

# The first word of a place's name: "Lake Tahoe", "Mount Hood", "Château de Versailles".
FRONTS: Final = """
lake|mount|mt|mt.|fort|port|cape|saint|st|st.|san|santa|sao|los|las|el|isle|gulf|bay|river|upper|lower|camp
chateau|palais|plaza|piazza|place|rue|avenue|via|calle|avenida|paseo|schloss|museo|musee|museum|pont|new
north|south|east|west|northern|southern|eastern|western|central|loch|glen|villa|castello|ponte|torre
republic of|kingdom of|city of|state of|island of|province of|university of|straße|am
"""

# Venues without a name: common nouns that answer "where". Given as mentions only after a preposition.
VENUES: Final = """
office room|meeting room|study room|lounge|hallway|corridor|laundry room|classroom|cafeteria|kitchen
bathroom|bedroom|living room|dining room|garage|basement|attic|backyard|balcony|garden|office
"""

# Nationalities and languages: capitalised in English, and no entity by themselves.
ADJECTIVES: Final = """
sanskrit|american|british|english|scottish|welsh|irish|french|german|spanish|italian|portuguese|dutch
belgian|swiss|austrian|danish|swedish|norwegian|finnish|icelandic|polish|czech|slovak|hungarian|romanian
bulgarian|greek|turkish|russian|ukrainian|lithuanian|latvian|estonian|serbian|croatian|bosnian|albanian
georgian|armenian|chinese|japanese|korean|vietnamese|thai|indonesian|malaysian|filipino|indian|pakistani
bangladeshi|nepali|tibetan|mongolian|iranian|persian|iraqi|arab|arabic|arabian|israeli|hebrew|jewish
palestinian|lebanese|syrian|egyptian|moroccan|algerian|tunisian|african|nigerian|kenyan|ethiopian|ghanaian
south african|australian|canadian|mexican|brazilian|argentine|argentinian|chilean|peruvian|colombian
venezuelan|cuban|puerto rican|jamaican|haitian|latin|latino|hispanic|asian|european|western|eastern|muslim
islamic|christian|catholic|protestant|orthodox|buddhist|hindu|sikh|roman|victorian|medieval|gothic|baroque
soviet|nazi|texan|californian|hawaiian|cantonese|mandarin|urdu|hindi|bengali|tamil|swahili|yiddish|gaelic
celtic|nordic|scandinavian|slavic|parisian|londoner|new yorker|democratic|republican|democrat|democrats
republicans|americans|germans|russians|christians|muslims|jews|romans|greeks|europeans|africans|tuscan
sicilian|bavarian|viennese|byzantine|ottoman|aztec|mayan|inca|viking|saxon|norman|germanic|olympic
singaporean|taiwanese|norse|indo-european|anglo-saxon|african-american|asian-american|israelis
"""

# Names of Chinese and Japanese places; the endings are rules (`han.py`).
HAN: Final = """
東京|福岡|台北|臺灣|台灣|韓国|北京|上海|天津|重庆|香港|澳门|台湾|广州|深圳|成都|杭州|南京|武汉|西安|苏州
青岛|大连|沈阳|哈尔滨|长沙|郑州|昆明|厦门|福州|宁波|无锡|济南|合肥|南昌|贵阳|南宁|海口|三亚|拉萨|乌鲁木齐
兰州|东莞|佛山|珠海|温州|丽江|桂林|石家庄|太原|长春|呼和浩特|银川|西宁|烟台|威海|徐州|常州|扬州|嘉兴|绍兴
泉州|洛阳|开封|大理|张家界|黄山|泰山|西湖|长城|故宫|天安门|外滩|浦东|广东|广西|浙江|江苏|山东|山西|陕西|四川
云南|贵州|湖南|湖北|河南|河北|福建|安徽|江西|海南|辽宁|吉林|黑龙江|内蒙古|新疆|西藏|甘肃|青海|宁夏|中国|美国
英国|法国|德国|日本|韩国|朝鲜|俄罗斯|意大利|西班牙|葡萄牙|荷兰|瑞士|瑞典|挪威|丹麦|芬兰|希腊|土耳其|埃及
印度|泰国|越南|新加坡|马来西亚|印度尼西亚|菲律宾|澳大利亚|新西兰|加拿大|墨西哥|巴西|阿根廷|南非|欧洲|亚洲
非洲|美洲|纽约|洛杉矶|旧金山|波士顿|芝加哥|华盛顿|西雅图|伦敦|巴黎|柏林|慕尼黑|罗马|米兰|威尼斯|佛罗伦萨
马德里|巴塞罗那|莫斯科|东京|大阪|京都|名古屋|札幌|福冈|横浜|神戸|広島|沖縄|北海道|渋谷|新宿|首尔|釜山|曼谷
清迈|普吉岛|巴厘岛|吉隆坡|河内|胡志明市|悉尼|墨尔本|奥克兰|多伦多|温哥华|迪拜|开罗|イタリア|フランス|ドイツ
アメリカ|イギリス|スペイン|ニューヨーク|パリ|ロンドン|ローマ|서울|부산|제주|일본|한국|중국|미국|도쿄|뉴욕
파리|런던
"""
