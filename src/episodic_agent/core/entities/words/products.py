"""Products: devices, programs, services and works, what is done with them, and the nouns that end them."""

from typing import Final

# Devices, programs and services: products whatever company they are of.
GOODS: Final = """
iphone|ipad|ipod|imac|macbook|macbook pro|macbook air|mac|mac mini|airpods|apple watch|apple tv|apple music
apple pay|icloud|itunes|imessage|facetime|siri|safari|app store|ios|ipados|macos|mac os|mac os x|os x|osx
windows|windows xp|windows 7|windows 10|windows 11|win xp|winxp|win98|microsoft office|ms office|office 365
microsoft word|ms word|excel|microsoft excel|powerpoint|outlook|onenote|onedrive|microsoft teams|ms teams
xbox|xbox one|surface pro|internet explorer|edge|bing|cortana|azure|visual studio|vs code|vscode
visual studio code|linkedin|skype|github|gitlab|bitbucket|copilot|github copilot|chatgpt|chat gpt|gpt|gpt-3
gpt-4|gpt4|claude|gemini|bard|llama|dall-e|midjourney|stable diffusion|alexa|echo dot|kindle|fire tv
prime video|amazon prime|amazon prime video|aws|audible|twitch|android|chrome|google chrome|chromebook
chromecast|gmail|google maps|google drive|google docs|google sheets|google calendar|google photos
google meet|google classroom|google scholar|google home|google translate|google earth|google play
google assistant|google analytics|youtube|youtube music|waze|fitbit|pixel|nexus|galaxy|samsung galaxy
samsung health|galaxy watch|playstation|play station|ps1|ps2|ps3|ps4|ps5|nintendo switch|wii|gameboy
game boy|ps vita|steam|steam deck|oculus|vision pro|gopro|roomba|nest|ring|netflix|hulu|disney+|disney plus
hbo max|paramount+|peacock|crunchyroll|spotify|soundcloud|pandora|tidal|shazam|facebook messenger|messenger
whatsapp|instagram|snapchat|tiktok|tik tok|twitter|reddit|pinterest|tumblr|telegram|signal|discord|slack
zoom|wechat|wechat pay|wechat work|wecom|weibo|alipay|taobao|tmall|douyin|xiaohongshu|qq|bilibili|iqiyi
youku|kuaishou|zhihu|dingtalk|feishu|lark|line|kakaotalk|viber|tinder|bumble|hinge|venmo|cash app|zelle
apple card|robinhood|coinbase|dolby atmos|gi bill|post-9/11 gi bill|real id|xp|ms-dos|bitcoin|ethereum
dogecoin|notion|evernote|trello|asana|jira|confluence|airtable|todoist|monday.com|clickup|basecamp|zapier
canva|figma|photoshop|adobe photoshop|illustrator|indesign|lightroom|premiere|premiere pro|final cut pro
davinci resolve|after effects|acrobat|blender|autocad|solidworks|sketchup|unity|unreal engine|grammarly
scrivener|dropbox|google one|mailchimp|hubspot|quickbooks|turbotax|mint|ynab|duolingo|babbel|coursera|udemy
khan academy|edx|skillshare|masterclass|quizlet|anki|moodle|wikipedia|quora|stack overflow|stackoverflow
goodreads|yelp|uber eats|ubereats|opentable|headspace|calm|strava|myfitnesspal|peloton|keep|nike run club
garmin|firefox|mozilla firefox|thunderbird|opera|konqueror|epiphany|lynx|openoffice|open office|libreoffice
gimp|inkscape|audacity|vlc|mplayer|xmms|amarok|rhythmbox|winamp|totem|xine|gstreamer|ffmpeg|xvid|divx|gdm
kdm|gcc|flex|bison|xserver|gaim|pidgin|xchat|irssi|mirc|bitchx|mutt|pine|vim|emacs|nano|gedit|nautilus
konsole|gnome|kde|xfce|xfce4|fluxbox|openbox|enlightenment|blackbox|icewm|compiz|beryl|metacity|xorg|x11
xfree86|wine|cedega|virtualbox|vmware player|qemu|kvm|docker|kubernetes|k8s|podman|vagrant|ansible|terraform
jenkins|git|svn|subversion|cvs|mercurial|bash|zsh|grub|lilo|samba|apache|nginx|mysql|postgresql|postgres
sqlite|mongodb|redis|cassandra|kafka|elasticsearch|hadoop|apt|apt-get|aptitude|synaptic|dpkg|yum|rpm|snap
flatpak|homebrew|pip|npm|yarn|webpack|ndiswrapper|alsa|pulseaudio|oss|cups|ssh|openssh|putty|vnc|openvpn|tor
bittorrent|azureus|utorrent|limewire|emule|frostwire|ubuntu|kubuntu|xubuntu|edubuntu|lubuntu|debian|fedora
redhat|centos|gentoo|slackware|mandriva|mandrake|opensuse|arch linux|linux|linux mint|knoppix|mepis|freebsd
openbsd|netbsd|solaris|unix|breezy|hoary|warty|dapper|edgy|feisty|gutsy|hardy|intrepid|jaunty|karmic|lucid
breezy badger|dapper drake|hoary hedgehog|python|java|javascript|typescript|perl|ruby on rails|php|django
flask|fastapi|react|reactjs|vue|angular|node.js|nodejs|next.js|jquery|bootstrap|tailwind|rust|golang|kotlin
scala|haskell|c++|c#|matlab|r studio|rstudio|jupyter|pandas|numpy|pytorch|tensorflow|keras|scikit-learn
openweather|openweathermap|openweather api|google maps api|postman|cypress|jest|mocha|eslint|prettier|flash
macromedia flash|adobe flash|realplayer|quicktime|acroread|geforce|radeon|nvidia geforce|intel core|pentium
athlon|celeron|thinkpad|dell xps|surface|raspberry pi|arduino|walkman|discman|betamax|polaroid|airtag
airtags|coke|coca-cola|coca cola|pepsi|sprite|fanta|dr pepper|red bull|gatorade|nutella|oreo|kitkat|snickers
m&ms|doritos|cheerios|heinz ketchup|budweiser|heineken|guinness|corona beer|jack daniel's|nespresso|keurig
instant pot|thermomix|vitamix|advil|tylenol|ibuprofen|aspirin|xanax|prozac|zoloft|viagra|botox|ozempic
vaseline|kleenex|tide pods|febreze|lysol|model s|model 3|model y|model t|ford mustang|mustang|corvette|civic
honda civic|accord|camry|toyota camry|corolla|prius|beetle|jeep|wrangler|f-150|golf gti|mini cooper|vespa
harley|harley-davidson|boeing 747|boeing 737|a380|concorde|hummer|cybertruck
"""

# Films, series, books, games and music, by title.
WORKS: Final = """
game of thrones|house of the dragon|breaking bad|better call saul|the sopranos|the wire|the office
parks and recreation|friends|seinfeld|how i met your mother|the big bang theory|modern family
stranger things|the crown|bridgerton|squid game|money heist|casa de papel|la casa de papel|the witcher
the mandalorian|wandavision|loki|ted lasso|succession|the bear|black mirror|peaky blinders|sherlock
downton abbey|doctor who|the walking dead|the last of us|westworld|euphoria|gossip girl|gilmore girls
grey's anatomy|suits|mad men|dexter|lost|house of cards|narcos|ozark|the boys|arcane|wednesday|the simpsons
simpsons|family guy|south park|futurama|rick and morty|bojack horseman|spongebob|pokemon|dragon ball|naruto
one piece|attack on titan|demon slayer|jujutsu kaisen|death note|sailor moon|spirited away
my neighbor totoro|princess mononoke|star wars|star trek|lord of the rings|the lord of the rings|the hobbit
harry potter and the|the matrix|inception|interstellar|the dark knight|oppenheimer|barbie|dune|avatar
titanic|the godfather|pulp fiction|fight club|forrest gump|the shawshank redemption|shawshank redemption
goodfellas|jurassic park|jaws|e.t.|indiana jones|back to the future|terminator|alien|blade runner|gladiator
braveheart|la la land|parasite|get out|joker|avengers|the avengers|iron man|black panther|thor ragnarok
guardians of the galaxy|toy story|finding nemo|the lion king|lion king|frozen|moana|coco|encanto|shrek
up in the air|inside out|wall-e|ratatouille|the notebook|pride and prejudice|to kill a mockingbird
the great gatsby|great gatsby|animal farm|brave new world|the catcher in the rye|moby dick|war and peace
crime and punishment|anna karenina|don quixote|les miserables|the alchemist|the hunger games|hunger games
twilight|the da vinci code|gone girl|fifty shades of grey|sapiens|atomic habits|the little prince|hamlet
macbeth|romeo and juliet|othello|king lear|the odyssey|the iliad|odyssey|iliad|the bible|bible|quran
the quran|torah|minecraft|fortnite|roblox|world of warcraft|wow classic|league of legends|dota|dota 2
overwatch|valorant|counter-strike|call of duty|halo|grand theft auto|gta|gta v|red dead redemption|zelda
the legend of zelda|super mario|mario kart|animal crossing|stardew valley|elden ring|dark souls|skyrim
the elder scrolls|fallout|cyberpunk 2077|baldur's gate|final fantasy|resident evil|assassin's creed|the sims
simcity|civilization|age of empires|starcraft|diablo|half-life|portal 2|tetris|pac-man|among us|candy crush
pokemon go|honor of kings|genshin impact|fifa 23|fifa 24|nba 2k|tekken|street fighter|mortal kombat|monopoly
scrabble|catan|settlers of catan|dungeons & dragons|dungeons and dragons|d&d|saturday night live|snl
the voice|american idol|the bachelor|survivor|big brother|masterchef|top gear|jeopardy|bohemian rhapsody
hotel california|stairway to heaven|imagine by|hey jude|yesterday by|thriller|abbey road|purple rain
hamilton|the phantom of the opera|cats the musical|wicked|mamma mia|the nutcracker|swan lake|mona lisa
the starry night|starry night|the last supper|guernica|the scream|the witness|the hangover|lady bird
the conjuring|insidious
"""

# The last words of a product's name.
HEADS: Final = """
app|apps|map|phone|smartphone|tablet|laptop|console|watch|smartwatch|headphones|earbuds|camera|printer
router|keyboard|browser|os|server|sdk|api|framework|library|plugin|extension|engine|suite|platform|tool
assistant|pro|plus|max|ultra|air|mini|lite|edition|series|mark|model|version|cream|gel|serum|lotion|shampoo
sunscreen|perfume|lipstick|movie|film|show|sitcom|anime|novel|book|album|song|game|musical|trilogy|saga
podcast|magazine|linux|beer|wine|whiskey|soda|cereal|cookies|chocolate|sneakers|shoes|boots|jacket|jeans
truck|sedan|suv|motorcycle|bike|scooter|drone|robot|vacuum|loan|plan|program|form|blender|mixer|oven|fridge
drug|vaccine|tablets|supplement|pay|maps|drive|music|calendar|docs|sheets|photos|cloud|ai|gpt|tv|card|prime
act|report|portal|website|database|protocol|reader
"""

# Before them, a work or a thing in use.
USING: Final = """
watch|watching|watched|rewatch|rewatching|rewatched|read|reading|reread|play|playing|played|stream|streaming
binge|bingeing|binged|binge-watching|listen to|listening to|use|using|used|install|installed|installing
uninstall|download|downloaded|downloading|bought|buy|buying|order|ordered|drive|driving|upgrade|upgraded
switched|running|run|runs|open|launch|configure|compile|drank|drinking|wearing|ride|riding|finished|movie
film|show|series|book|novel|song|album|game|app|called|titled|entitled|via|on|posted|software|package
program|distro|tool|tools|browser|website|anime|musical|documentary|sitcom|podcast|magazine|boot|booting
mount
"""
HAN: Final = """
微信|微信支付|支付宝|淘宝|天猫|抖音|微博|小红书|企业微信|钉钉|飞书|哔哩哔哩|爱奇艺|优酷|腾讯视频|高德地图
百度地图|滴滴出行|饿了么|大众点评|携程|苹果手机|安卓|王者荣耀|原神|ウィンドウズ|ライン|카카오톡|네이버
"""

# Names that are also everyday words: products in capitals inside a sentence, or after "use", "on".
DOUBTFUL: Final = """
line|keep|signal|calm|ring|nest|mint|steam|flash|edge|notion|pine|wine|totem|epiphany|beryl|mutt|opera
blackbox|vue|react|rust|hardy|edgy|intrepid|lucid|warty|snap|apt|yarn|oss|tor|surface|pixel|galaxy|beetle
civic|accord|mustang|bard|llama|claude|gemini|hinge|bumble|tinder|premiere|excel|unity|blender|zoom|slack
discord|telegram|messenger|chrome|safari|switch|portal|frozen|thriller|coco|joker|dune|avatar|lost|suits
halo|wicked|hamilton|dexter|friends|alien|gladiator|jaws|enlightenment|lark|copilot|outlook|bing|echo dot
fire tv|audible|twitch|android|kindle|wii|nexus|ps|peacock|pandora|tidal|strava|peloton|garmin|lynx|nano
bash|grub|samba|git|python|java|perl|ruby|flask|express|angular|bootstrap|tailwind|pandas|cypress|jest|mocha
prettier|quicktime|vespa|hummer|oreo|sprite|fanta|coke|pepsi|valorant|fallout|diablo|tetris|catan|monopoly
scrabble|survivor|twilight|hamlet|othello|sapiens|odyssey|iliad|bible|moana|encanto|shrek|inception|titanic
parasite|barbie|succession|euphoria|loki|arcane|narcos|ozark|sherlock|wednesday|naruto|insidious|torah
civilization|siri|cortana|alexa|qq|os|ps1|r studio|pip|rpm|yum|subversion|vagrant|jenkins|ansible|kafka
cassandra|redis|meet|teams|word|pages|numbers|windows|swift|go|scala|dart|julia|concorde|corolla|prius|camry
jeep|wrangler|walkman|polaroid|quora|shazam|canva|figma|acrobat|illustrator|jira|confluence|mac
"""
