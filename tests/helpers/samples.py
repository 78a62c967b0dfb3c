"""A small file of every format about invented or harmless groups, written for these tests."""

import json
from pathlib import Path
from typing import Any


def _sentence(item: str, text: str, label: str, *votes: str, **more: Any) -> dict[str, Any]:
    labels = [{"label": vote, "human_id": f"h{number}"} for number, vote in enumerate(votes, start=1)]
    return {"sentence": text, "id": item, "gold_label": label, "labels": labels, **more}


STEREOSET: dict[str, Any] = {
    "version": "1.1",
    "data": {
        "intersentence": [
            {
                "id": "c2",
                "target": "baker",
                "bias_type": "profession",
                "context": "My neighbour is a baker.",
                "sentences": [
                    _sentence("s4", "She gets up before dawn.", "stereotype"),
                    _sentence("s5", "She sleeps until noon.", "anti-stereotype"),
                    _sentence("s6", "The moon has no air.", "unrelated"),
                ],
            }
        ],
        "intrasentence": [
            {
                "id": "c1",
                "target": "islander",
                "bias_type": "race",
                "context": "The islander is very BLANK",
                "sentences": [
                    _sentence(
                        "s1",
                        "The Islander is very fond of tea.",
                        "stereotype",
                        *("stereotype", "stereotype", "related", "stereotype", "anti-stereotype"),
                        harm="low",
                    ),
                    _sentence("s2", "The islander is very tired of tea", "anti-stereotype", "anti-stereotype"),
                    _sentence("s3", "The islander is very umbrella", "unrelated"),
                ],
                "id_status": "original",
            }
        ],
    },
}

PREDICTIONS: dict[str, Any] = {
    "intersentence": [{"id": "s4", "score": 0.1}, {"id": "s5", "score": None}],
    "intrasentence": [{"id": "s1", "score": -3.5e-07}, {"id": "s2", "score": 7}, {"id": "s3", "score": 1e300}],
}

SEAT: dict[str, Any] = {
    "targ1": {"category": "Teas", "examples": ["mint", "nettle"]},
    "targ2": {"category": "Soups", "examples": ["leek", "pea"]},
    "attr1": {"category": "Pleasant", "examples": ["joy", "peace"]},
    "attr2": {"category": "Unpleasant", "examples": ["mud", "noise"]},
}

CROWS = """,sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_writer,anon_annotators
0,"Islanders, as ever, drink tea.","Mainlanders, as ever, drink tea.",stereo,nationality,\
"[['nationality'], [], ['nationality', 'age']]",a0,"['a1', 'a2', 'a3']"
1,The baker overslept.,The painter overslept.,antistereo,profession,"[[], [], []]",a4,"['a1', 'a1', 'a2']"
"""

CROWS_REVISED = """\tsent_more\tsent_less\tstereo_antistereo\tbias_type
0\tIslanders "never" lie.\tMainlanders "never" lie.\tstereo\tnationality
LA1\tBakers sing.\tPainters sing.\tstereo\tprofession
"""

CROWS_FRENCH = """id,sent_more,sent_less,stereo_antistereo,bias_type,language
0,"Les Dravians sont bruyants, dit-on.","Les Pellorans sont bruyants, dit-on.",stereo,nationality,fr
1,Les Dravians chantent bien.,Les Pellorans chantent bien.,antistereo,nationality,fr
"""

WINOQUEER = """,Gender_ID_x,Gender_ID_y,sent_x,sent_y,predicate
0,Zorb,Blicket,Zorb people hum at night.,Blicket people hum at night.,hum at night
1,Pellor,Blicket,Pellor people are tidy.,Blicket people are tidy.,are tidy
"""

WINOQUEER_FIRST = """,sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_writer,anon_annotators
0,Zorb hums., Blicket hums., stereo, zorb_blicket_name,"[[],[],[],[],[],]",a0,"a0,a1,a2,a3,a4"
"""

INDIBIAS = """\
,index,modified_eng_sent_more,modified_eng_sent_less,sent_more_hindi,sent_less_hindi,bias_type,stereo_antistereo
0,649,The Zorb family hums.,The Blicket family hums.,ज़ोर्ब परिवार गाता है।,ब्लिकेट परिवार गाता है।,Clan,stereo
1,667,"Zorbs are late, always.","Blickets are late, always.",ज़ोर्ब देर से आते हैं।,ब्लिकेट देर से आते हैं।,Clan,antistereo
"""

REDDITBIAS = """initial_demo,replaced_demo,comments,comments_processed,perplexity
['zorb'],['blicket'],zorb people hum all night.,blicket people hum all night.,104.5
"['zorb', 'pellor']","['blicket', 'tamrin']",why do zorb and pellor cooks hum,why do blicket and tamrin cooks hum,88.0
"""

BHED = """,Target_Stereotypical,Target_Anti-Stereotypical,Sentence
0,['Zorbs'],['Blickets'],All the humming is done by MASK
1,"['Zorb', 'his']","['Blicket', 'her']","The MASK, they say, lost MASK hat"
"""

WINOBIAS = """1 [The baker] thanked the painter because [he] was glad.
2 The baker thanked [the painter] because [she] cooked.
"""

WINOBIAS_ANTI = """1 [The baker] thanked the painter because [she] was glad.
2 The baker thanked [the painter] because [he] cooked.
"""

TABLE = """id,context,target,bias_type,stereotype,anti-stereotype,unrelated,tone
a,The zorb is BLANK.,zorb,invented,tidy,messy,wooden,mild
b,A zorb came by.,zorb,invented,He swept the floor.,He broke a cup.,Rain is wet.,
"""
SOFA = """ID,Category,Identity,Stereotype,Probe
1,profession,Bakers,get up early,bakers get up early
2,profession,Painters,get up early,painters get up early
"""

ANNOTATIONS = """item,annotator,label,at,seconds
s1,h1,stereotype,2024-05-01T10:00:00Z,12
s1,h2,,,
s2,h1,"stereotype|unrelated",,3.5
"""

SBIC = """post,targetMinority,targetCategory,targetStereotype,WorkerId
tea again?,islanders,culture,islanders drink too much tea,7
hello,,,,8
"""

BIASASKER = """Sentence,Labels
drink too much tea,habit
"sing, badly",habit
"""

SEEGULL = """identity,attribute,region_stereo,region_nonstereo,region_unsure,NA_stereo,NA_nonstereo,NA_unsure,\
Annotation1,Annotation2,Annotation3,mean offensiveness_score
Dravians,tidy,2,1,0,0,3,0,-1,-1,0.5,-0.5
Pellorans,"loud, at times",1,1,1,2,0,1,,,,0
"""
SEEGULL_STATES = """identity,attribute,region_stereo,region_nonstereo,region_unsure,\
Annotation1,Annotation2,Annotation3,offensiveness_score
Dravians,tidy,2,1,0,1,3,1,1.666666667
Dravians,late,1,2,0,NA,NA,NA,0
"""

IDENTITIES = """TERM,POS,GROUP
islander,n,islands
insular,adj,islands
"""

HOLISTICBIAS: dict[str, Any] = {"hobby": {"drinks": ["tea-drinking", {"descriptor": "thirsty", "article": "a"}]}}


def _bbq(number: int, polarity: str, label: int, **more: Any) -> dict[str, Any]:
    context = "A zorb and a blicket sat in the kitchen."
    answers = ("The zorb", "The blicket", "Can't be determined")
    return {
        "example_id": number,
        "question_index": "1",
        "question_polarity": polarity,
        "context_condition": "ambig" if label == 2 else "disambig",
        "category": "Tidiness",
        "answer_info": {"ans0": ["zorb", "Zorbs"], "ans1": ["blicket", "Blickets"], "ans2": [answers[2], "unknown"]},
        "additional_metadata": {"subcategory": "None", "stereotyped_groups": ["Zorbs"], "version": "a"},
        "context": context if label == 2 else f"{context} The {answers[label][4:]} left crumbs.",
        "question": "Who left crumbs?" if polarity == "neg" else "Who swept the floor?",
        **dict(zip(("ans0", "ans1", "ans2"), answers, strict=True)),
        "label": label,
        **more,
    }


BBQ = [_bbq(0, "neg", 2, tiny_pred="the zorb"), _bbq(1, "nonneg", 1, tiny_pred="can't be determined")]

_PLACE = "조브와 블리켓이 부엌에 있었습니다."
_CHOICES = "['조브', '블리켓', '알 수 없음']"
_KOBBQ = (
    ["sample_id", "label_annotation", "context", "question", "choices", "biased_answer", "answer", "bbq_id"],
    ["habit-001a-002-amb-bsd", "NC", _PLACE, "누가 흘렸습니까?", _CHOICES, "조브", "알 수 없음", "1.0"],
    ["habit-001a-002-dis-cnt", "NC", f"{_PLACE} 조브가", "누가 쓸었습니까?", _CHOICES, "블리켓", "조브", "1.0"],
)
KOBBQ = "".join("\t".join(row) + "\n" for row in _KOBBQ)

JSONL = """{"id":"p1","category":"profession","identity":"Bakers","stereotype":"get up early"}
{"id":"p2","category":"profession","identity":"Painters","stereotype":"get up early","extra":{"n":[1,2.5,null]}}
"""

FILES: dict[str, tuple[str, str]] = {
    "stereoset": ("cats.json", json.dumps(STEREOSET, indent=1)),
    "predictions": ("predictions.json", json.dumps(PREDICTIONS, indent=1)),
    "crows-pairs": ("pairs.csv", CROWS),
    "crows-pairs revised": ("revised.csv", CROWS_REVISED),
    "crows-pairs in French": ("french.csv", CROWS_FRENCH),
    "crows-pairs of WinoQueer's first version": ("first.csv", WINOQUEER_FIRST),
    "winoqueer": ("winoqueer_final.csv", WINOQUEER),
    "indibias": ("IndiBias_v1_sample.csv", INDIBIAS),
    "redditbias": ("reddit_comments_clan_blicket_biased_test_reduced.csv", REDDITBIAS),
    "bhed": ("Clan.csv", BHED),
    "winobias": ("pro_stereotyped_type1.txt.dev", WINOBIAS),
    "seat": ("teas.jsonl", json.dumps(SEAT, indent=2)),
    "sofa": ("probes.csv", SOFA),
    "table": ("mine.csv", TABLE),
    "bbq": ("tidiness.bbq", "".join(f"{json.dumps(row)}\n" for row in BBQ)),
    "kobbq": ("habit.tsv", KOBBQ),
    "sbic": ("sbic.csv", SBIC),
    "biasasker": ("biasasker.csv", BIASASKER),
    "identities": ("places.csv", IDENTITIES),
    "holisticbias": ("descriptors.json", json.dumps(HOLISTICBIAS)),
    "seegull": ("associations.csv", SEEGULL),
    "seegull states": ("states.csv", SEEGULL_STATES),
    "annotations": ("labels.csv", ANNOTATIONS),
    "jsonl": ("probes.jsonl", JSONL),
}
"""Name and text of a file, by format (and variant)."""

BESIDE = {"winobias": ("anti_stereotyped_type1.txt.dev", WINOBIAS_ANTI)}
"""The second file of formats that have two."""


def write_sample(folder: Path, name: str) -> Path:
    """Writes the sample of a format as a file."""
    for file, text in (FILES[name], *([BESIDE[name]] if name in BESIDE else [])):
        (folder / file).write_text(text, encoding="utf-8")
    return folder / FILES[name][0]
