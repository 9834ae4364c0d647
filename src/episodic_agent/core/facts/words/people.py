"""Kin, animals, work, traits and peoples, as single words; the last word of a phrase is looked up."""

from typing import Final

from episodic_agent.core.entities.lists import word_set

PARTNERS: Final = word_set("husband wife partner boyfriend girlfriend fiancé fiancée fiance fiancee spouse")
KIN: Final = PARTNERS | word_set(
    """
    mother father mum mom mummy mommy dad daddy parent sister brother son daughter child kid baby twin
    grandmother grandfather grandma grandpa granny grandad granddad nan nana gran aunt auntie uncle
    cousin niece nephew grandson granddaughter stepmother stepfather stepson stepdaughter stepsister
    stepbrother stepdad stepmum stepmom godson goddaughter godmother godfather mother-in-law
    father-in-law sister-in-law brother-in-law son-in-law daughter-in-law half-brother half-sister
    flatmate roommate housemate mentor boss manager therapist
    """
)
FRIENDS: Final = word_set("friend mate pal bandmate teammate neighbour neighbor colleague coworker ex")
PETS: Final = word_set(
    """
    cat dog kitten puppy rabbit bunny hamster parrot budgie canary horse pony tortoise turtle snake
    gecko lizard goldfish ferret rat mouse hen chicken goat donkey sheep cow pig duck greyhound whippet
    labrador retriever poodle beagle terrier collie spaniel dachshund corgi husky tabby siamese iguana
    cockatiel guinea-pig chinchilla hedgehog bee alpaca llama lurcher mutt pug
    """
)
WORK: Final = word_set(
    """
    accountant actor actress actuary admin administrator analyst anaesthetist anthropologist apprentice
    archaeologist architect archivist artist astronomer athlete attorney auctioneer auditor author baker
    banker barber barista barrister bartender beautician beekeeper biochemist biologist blacksmith
    bookbinder bookkeeper bookseller botanist brewer bricklayer broker builder butcher buyer caretaker
    carer carpenter cashier chauffeur chef chemist chiropractor choreographer cinematographer cleaner
    clerk coach cobbler coder comedian composer conductor consultant contractor cook coordinator
    copywriter counsellor counselor courier curator customs-officer dancer dentist designer detective
    developer dietician dietitian diplomat director dispatcher diver doctor doula drummer driver
    economist editor electrician engineer entrepreneur estate-agent executive farmer farrier firefighter
    fisherman florist forester founder freelancer gardener geographer geologist geophysicist glazier
    goldsmith guard guide guitarist gynaecologist hairdresser handyman headteacher historian housekeeper
    housewife hydrologist illustrator immunologist instructor interpreter intern investigator janitor
    jeweller jeweler joiner journalist judge lab-technician labourer landscaper lawyer lecturer
    librarian lifeguard linguist locksmith logistician machinist magician manager marketer mason masseur
    masseuse mathematician mechanic merchant meteorologist microbiologist midwife miner minister model
    musician nanny neurologist neuroscientist novelist nurse nutritionist officer operator optician
    optometrist orthodontist osteopath paediatrician painter paralegal paramedic pastor pathologist
    pediatrician pensioner pharmacist philosopher photographer physician physicist physio
    physiotherapist pianist pilot plasterer plumber podiatrist poet policeman policewoman politician
    porter postman potter priest principal producer professor programmer proofreader psychiatrist
    psychologist psychotherapist publicist rabbi radiographer radiologist ranger realtor receptionist
    recruiter referee reporter representative researcher roofer sailor salesman salesperson saleswoman
    scaffolder scientist sculptor seamstress secretary shepherd shopkeeper singer sociologist solicitor
    soldier songwriter sommelier specialist statistician stonemason strategist student supervisor
    surgeon surveyor tailor tattooist teacher technician technologist therapist tiler translator tutor
    undertaker upholsterer urologist vet veterinarian veterinary violinist waiter waitress watchmaker
    weaver welder winemaker writer youtuber zoologist zookeeper postdoc dad-at-home freelancer tester
    administrator scrum-master conservator restorer luthier bus-driver train-driver lorry-driver
    """
)
TITLES: Final = word_set(
    "head director ceo cto cfo coo founder co-founder owner chair president principal captain lead"
)
TRAITS: Final = word_set(
    """
    introvert extrovert introverted extroverted perfectionist pessimist optimist shy impatient stubborn
    anxious disorganised disorganized organised organized punctual competitive sensitive patient
    cautious messy tidy clumsy forgetful hoarder procrastinator minimalist workaholic homebody insomniac
    bookworm left-handed right-handed ambidextrous night-owl early-bird feminist atheist agnostic
    pacifist people-pleaser
    """
)
PEOPLES: Final = word_set(
    """
    american argentinian argentine australian austrian bangladeshi belgian bolivian bosnian brazilian
    british bulgarian cameroonian canadian catalan chilean chinese colombian croatian cuban cypriot
    czech danish dutch egyptian english estonian ethiopian filipino finnish french georgian german
    ghanaian greek hungarian icelandic indian indonesian iranian iraqi irish israeli italian jamaican
    japanese jordanian kenyan korean kurdish latvian lebanese libyan lithuanian malaysian maltese
    mexican mongolian moroccan nepali nigerian norwegian pakistani palestinian persian peruvian polish
    portuguese puerto-rican romanian russian scottish senegalese serbian singaporean slovak slovenian
    somali spanish sudanese swedish swiss syrian taiwanese tanzanian thai tunisian turkish ugandan
    ukrainian uruguayan venezuelan vietnamese welsh zimbabwean
    """
)
FAITHS: Final = word_set(
    "muslim christian catholic jewish hindu buddhist sikh protestant quaker orthodox mormon"
)
