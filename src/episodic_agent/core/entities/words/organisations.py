"""Organisations: companies, institutions and teams by name, and the nouns and endings that make one."""

from typing import Final

COMPANIES: Final = """
pop mart|ctrip|trip.com|meituan|microsoft|google|alphabet|apple|amazon|facebook|meta|ibm|intel|amd|nvidia
oracle|sap|cisco|dell|hp|hewlett-packard|lenovo|samsung|sony|panasonic|toshiba|hitachi|fujitsu|lg|nokia
ericsson|motorola|huawei|xiaomi|oppo|vivo|oneplus|qualcomm|broadcom|texas instruments|arm|tsmc|foxconn|adobe
salesforce|vmware|red hat|canonical|suse|mozilla|openai|anthropic|deepmind|google deepmind|hugging face
stripe|paypal|square|shopify|ebay|alibaba|tencent|baidu|bytedance|jd.com|didi|netease|uber|lyft|airbnb
booking.com|expedia|tripadvisor|doordash|grubhub|instacart|walmart|costco|target|ikea|home depot
the home depot|lowe's|best buy|whole foods|trader joe's|kroger|safeway|walgreens|cvs|rite aid|tesco
sainsbury's|aldi|lidl|carrefour|rewe|edeka|mercadona|macy's|nordstrom|sephora|ulta|zara|h&m|uniqlo|gap|nike
adidas|puma|reebok|under armour|lululemon|patagonia|north face|the north face|gucci|prada|louis vuitton
chanel|hermes|dior|burberry|rolex|tiffany|cartier|l'oreal|estee lauder|nivea|dove|neutrogena|maybelline
procter & gamble|unilever|nestle|kraft|kellogg's|coca-cola company|pepsico|starbucks|mcdonald's|mcdonalds
burger king|kfc|subway|wendy's|taco bell|domino's|pizza hut|chipotle|dunkin|dunkin donuts|chick-fil-a
five guys|shake shack|in-n-out|olive garden|cheesecake factory|haidilao|luckin|tesla|ford|general motors|gm
chrysler|toyota|honda|nissan|mazda|subaru|hyundai|kia|volkswagen|vw|bmw|mercedes|mercedes-benz|audi|porsche
ferrari|lamborghini|volvo|renault|peugeot|citroen|fiat|jaguar|land rover|bentley|byd|boeing|airbus
lockheed martin|spacex|blue origin|nasa|esa|delta airlines|united airlines|american airlines
southwest airlines|lufthansa|british airways|air france|emirates|qatar airways|ryanair|easyjet|deutsche bahn
amtrak|fedex|ups|dhl|usps|sf express|chevron|exxon|exxonmobil|shell|bp|totalenergies|gazprom|aramco
general electric|siemens|bosch|philips|3m|honeywell|caterpillar|bayer|basf|pfizer|moderna|novartis|roche
merck|astrazeneca|johnson & johnson|glaxosmithkline|jpmorgan|jp morgan|goldman sachs|morgan stanley
bank of america|wells fargo|citibank|citigroup|hsbc|barclays|deutsche bank|ubs|credit suisse|santander|bbva
chase bank|american express|visa|mastercard|capital one|fidelity|vanguard|blackrock|berkshire hathaway|icbc
ping an|deloitte|pwc|kpmg|ernst & young|accenture|mckinsey|boston consulting group|bain|disney|walt disney
pixar|dreamworks|warner bros|warner bros.|warner brothers|universal pictures|paramount pictures
20th century fox|columbia pictures|lucasfilm|studio ghibli|hbo|nbc|abc|cbs|cnn|fox news|bbc|itv|pbs|espn|npr
mtv|al jazeera|reuters|associated press|bloomberg|new york times|the new york times|washington post
the guardian|wall street journal|financial times|the economist|marvel|marvel studios|dc comics|nintendo|sega
electronic arts|blizzard|ubisoft|valve|epic games|rockstar games|activision|capcom|square enix|lego|hasbro
mattel|verizon|at&t|t-mobile|sprint|comcast|vodafone|orange|telefonica|deutsche telekom|china mobile
china unicom|china telecom|wework|slack technologies|atlassian|github inc|gitlab inc|hilton|marriott|hyatt
accor
"""

BODIES: Final = """
united nations|un|european union|eu|nato|who|unesco|unicef|wto|imf|world bank|red cross|the red cross|opec
world health organization|world trade organization|international monetary fund|interpol|greenpeace|wwf|oxfam
amnesty international|doctors without borders|fbi|cia|nsa|irs|dmv|fda|cdc|nih|epa|faa|fcc|sec|ftc|hud|va|ssa
dhs|doj|tsa|fema|osha|nypd|lapd|kgb|mi5|mi6|gchq|mossad|stasi|gestapo|ss|ccp|pla|ira|plo|eta|isis|al-qaeda
taliban|hamas|hezbollah|congress|us congress|u.s. congress|senate|the senate|house of representatives
supreme court|the supreme court|parliament|house of commons|house of lords|bundestag|kremlin|politburo
white house staff|state department|treasury department|department of education|federal student aid
department of motor vehicles|department of veterans affairs|social security administration|social security
medicare|medicaid|peace corps|army|us army|u.s. army|navy|us navy|air force|marine corps|coast guard
national guard|red army|royal navy|royal air force|raf|wehrmacht|luftwaffe|scotland yard|secret service
secret intelligence service|democratic party|republican party|labour party|conservative party
communist party|nazi party|green party|liberal party|tea party|nba|nfl|mlb|nhl|mls|fifa|uefa|ioc|ncaa|wnba
ufc|wwe|pga|atp|wta|nascar|premier league|bundesliga|la liga|serie a|champions league|harvard
harvard university|yale|yale university|princeton university|stanford|stanford university|mit|caltech|ucla
usc|uc berkeley|berkeley university|nyu|columbia university|cornell|brown university|dartmouth|upenn
duke university|northwestern university|university of chicago|carnegie mellon|georgia tech|purdue
oxford university|university of oxford|cambridge university|university of cambridge|imperial college|lse|ucl
eth zurich|sorbonne|tsinghua|tsinghua university|peking university|fudan university|tokyo university
juilliard|yankees|new york yankees|red sox|dodgers|cubs|giants|mets|braves|astros|lakers|celtics|warriors
bulls|knicks|heat|spurs|nets|rockets|cowboys|dallas cowboys|patriots|packers|steelers|49ers|eagles|chiefs
broncos|seahawks|bears|raiders|dolphins|miami heat|golden state warriors|chicago bulls|boston celtics
manchester united|manchester city|liverpool fc|chelsea fc|arsenal|tottenham|everton|leicester city
real madrid|fc barcelona|barca|atletico madrid|bayern|bayern munich|fc bayern|borussia dortmund|juventus
ac milan|inter milan|psg|ajax|beatles|the beatles|rolling stones|the rolling stones|pink floyd|led zeppelin
queen|nirvana|metallica|coldplay|u2|radiohead|the who|the doors|the beach boys|fleetwood mac|green day
linkin park|arctic monkeys|oasis|blur|daft punk|abba|bts|blackpink|one direction|imagine dragons|maroon 5
red hot chili peppers|ac/dc|guns n' roses
"""

# The last words of an organisation's name.
HEADS: Final = """
court|inc|inc.|corp|corp.|corporation|co|co.|company|ltd|ltd.|limited|llc|llp|plc|gmbh|ag|kg|ev|sa|s.a.|srl
spa|bv|nv|ab|oy|group|holdings|partners|associates|enterprises|industries|systems|solutions|technologies
technology|tech|labs|laboratories|laboratory|studios|studio|pictures|records|entertainment|productions|media
press|publishing|publications|books|magazine|times|post|news|herald|tribune|gazette|network|broadcasting
bank|insurance|capital|ventures|securities|financial|finance|trust|fund|foundation|charity|university
college|school|academy|institute|institution|polytechnic|kindergarten|faculty|department|dept|ministry
agency|bureau|administration|commission|committee|council|board|authority|association|organization
organisation|society|federation|union|league|alliance|coalition|party|club|team|fc|cf|united|rovers|athletic
army|navy|police|corps|brigade|regiment|hospital|clinic|hospice|airlines|airways|motors|pharmaceuticals
pharmacy|electronics|software|telecom|mobile|energy|oil|foods|brewing|brands|consulting|law firm|orchestra
band|quartet|choir|symphony|ensemble|congress|parliament|senate|government|embassy|consulate|center for
chamber|guild|cooperative|office|service|services|exchange|startup|property management|logistics|express
community center|call center|credit union|rental|car rental|mart|moving|movers|cleaners|travel agency
dealership|universitat|hochschule|schule|verein|krankenhaus|versicherung|universidad|colegio|banco
universite|ecole|lycee|hopital|banque|societe|mairie|institut
"""

# Before them a firm or school: "at X", "works for X".
WORKING: Final = """
started at|starting at|work at|works at|worked at|working at|work for|works for|worked for|working for
job at|job with|interview at|interview with|intern at|internship at|interned at|internship with|employed by
employed at|hired by|position at|role at|career at|joined|join|joining|study at|studied at|studying at
studies at|degree from|graduated from|professor at|student at|ceo of|founder of|cofounder of|employee of
member of|chairman of|offer from|startup called|company called|band called|team called|brand called
firm called|contract with|partnership with|acquired by|owned by|founded by|sponsored by|manager at
engineer at|director at|developer at|shares of|stock of|customer of
"""

HAN_HEADS: Final = """
有限公司|股份有限公司|公司|集团|银行|大学|学院|中学|小学|幼儿园|医院|诊所|研究院|研究所|事务所|工厂|出版社
电视台|报社|协会|基金会|委员会|联合会|俱乐部|工作室|保险|证券|航空|株式会社|高校|大学院|회사|대학교|은행
병원|고등학교
"""
HAN: Final = """
微软|谷歌|苹果公司|亚马逊|特斯拉|腾讯|阿里巴巴|百度|字节跳动|京东|美团|滴滴|网易|华为|小米|联想|中国移动
中国联通|中国电信|工商银行|建设银行|农业银行|中国银行|招商银行|清华|北大|清华大学|北京大学|复旦|联合国|欧盟
顺丰|中通|圆通|トヨタ|ソニー|任天堂|삼성|현대
"""

# Names that are also everyday words: organisations only in capitals, inside a sentence.
DOUBTFUL: Final = """
shell|orange|apple|target|gap|sprint|visa|square|subway|fidelity|vanguard|arm|meta|oracle|alphabet|stripe
puma|dove|chase|discover|capital one|tiffany|patagonia|jaguar|emirates|bosch|mint|oasis|blur|queen|nirvana
heat|magic|nets|spurs|bulls|bears|eagles|giants|cubs|braves|rockets|cowboys|patriots|warriors|chiefs
dolphins|raiders|arsenal|ajax|congress|parliament|senate|army|navy|police|kraft|merck|bain|accor|lark|valve
slack|zoom|marvel|genesis|kiss|un|who|eu|va|ss|ssa|sec|pga|pla|eta|keen|vans|guess|coach|fossil|express|gm
hp|sap|kia|seat|mini|smart|opel|bp|ups|abc|pbs|itv|lg|ms|ibis|ritz|hilton|united|delta|southwest|frontier
spirit|virgin|square enix|epic games|hermes|prada|roche|bayer|suse|didi|vivo|oppo|luckin
"""
