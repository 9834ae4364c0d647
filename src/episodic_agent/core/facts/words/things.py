"""Belongings, conditions, allergens and diets, as words; the last word of a phrase is looked up."""

from typing import Final

from episodic_agent.core.entities.lists import word_set

BELONGINGS: Final = word_set(
    """
    car van truck lorry motorbike motorcycle bike bicycle e-bike scooter moped boat sailboat yacht canoe
    kayak caravan campervan camper trailer house flat apartment cottage cabin farm allotment garden
    greenhouse shed workshop studio garage desk sofa piano guitar cello violin viola ukulele banjo
    accordion saxophone trumpet flute clarinet harp drums keyboard synth synthesiser laptop computer
    macbook thinkpad pc mac iphone ipad tablet pixel kindle e-reader printer camera leica nikon
    canon drone telescope microscope console playstation xbox switch loom kiln lathe sewing-machine oven
    tattoo tattoos piercing licence license passport visa degree pension mortgage season-ticket
    subscription membership pool sauna hammock tesla volvo fiat skoda toyota honda volkswagen bmw saab
    peugeot citroën renault subaru turntable espresso-machine wheelchair hearing-aid prosthesis
    pacemaker glasses braces smartwatch fitbit garmin heat-pump record-player typewriter treadmill tent
    surfboard snowboard server nas router vinyl
    """
)
HEALTH: Final = word_set(
    """
    diabetes asthma epilepsy migraine migraines adhd add autism asperger's arthritis hypertension
    anaemia anemia coeliac celiac crohn's ibs endometriosis pcos depression anxiety bipolar ocd ptsd
    dyslexia dyspraxia dyscalculia tinnitus vertigo eczema psoriasis scoliosis sciatica osteoporosis
    lupus fibromyalgia glaucoma cataracts haemophilia hemophilia hypothyroidism hyperthyroidism
    hepatitis hiv parkinson's multiple-sclerosis narcolepsy sleep-apnea rosacea gout insomnia aphantasia
    synaesthesia synesthesia astigmatism reynaud's raynaud's ms cfs
    """
)
HEALTHY: Final = word_set(
    """
    diabetic asthmatic epileptic autistic dyslexic dyspraxic deaf blind colour-blind color-blind
    colourblind colorblind short-sighted near-sighted nearsighted long-sighted hard-of-hearing anaemic
    anemic coeliac celiac bipolar neurodivergent lactose-intolerant gluten-intolerant one-handed
    partially-sighted
    """
)
ALLERGENS: Final = word_set(
    """
    penicillin amoxicillin ibuprofen aspirin codeine sulfa antibiotics latex nickel gold wool pollen
    dust mites mould mold ragweed grass birch hazel hay fur dander cat cats dog dogs horse horses rabbit
    rabbits bee bees wasp wasps stings sting nut nuts peanut peanuts hazelnut hazelnuts walnut walnuts
    almond almonds cashew cashews pistachio pistachios sesame milk dairy lactose egg eggs soy soya wheat
    gluten fish shellfish shrimp shrimps prawn prawns crab lobster mussels oysters seafood strawberry
    strawberries kiwi kiwis apple apples banana bananas pineapple mango mangoes tomato tomatoes celery
    mustard lupin sulphites sulfites avocado peach peaches feathers perfume fragrance plasters adhesive
    iodine lidocaine morphine chlorine detergent lilies citrus oranges pepper garlic onions mushrooms
    kiwifruit
    """
)
DIETS: Final = word_set(
    """
    vegan vegetarian pescatarian pescetarian flexitarian teetotal teetotaller kosher halal carnivore
    fruitarian coeliac celiac lactose-intolerant gluten-free gluten-intolerant
    """
)
FOODS: Final = word_set(
    """
    meat pork beef lamb chicken poultry fish seafood shellfish shrimp prawns dairy milk cheese butter
    eggs egg gluten bread wheat sugar alcohol wine beer spirits coffee caffeine tea nuts peanuts soy
    tofu onions onion garlic mushrooms mushroom tomatoes coriander cilantro olives anchovies liver offal
    spice chilli chili pepper sweets chocolate soda cola smoking cigarettes nicotine drinking carbs
    potatoes rice pasta fructose lactose honey gelatine gelatin animals veal game breakfast aubergine
    eggplant broccoli celery beetroot fennel cabbage
    """
)
SHORT_LIVED: Final = word_set(
    """
    this that it him her them you those these one something anything everything nothing someone what how
    when idea sound look weather today outfit dress haircut photo picture plan answer question
    suggestion job news way thing things part bit mood movie meeting post message email link song joke
    point traffic line rain monday mondays tuesday wednesday thursday friday saturday sunday overtime
    work mornings morning
    """
)
