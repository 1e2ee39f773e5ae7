#!/usr/bin/env python3
"""Finds words that established ones replaced, British spellings, `one a line` for one per line, and idioms.

It reads code, comments, help texts and documents. ALLOWED lists the places that store or accept an older
form.
"""

import functools
import re
import sys

import checking

FOLDERS = ("src", "tests", "bench", "tools", "docs", "examples", "cmake")
SUFFIXES = {".h", ".cc", ".c", ".in", ".py", ".sh", ".md", ".txt", ".cmake", ".proto", ""}
TOP_LEVEL = ("*.md", "dev", "CMakeLists.txt", "CMakePresets.json")
SKIPPED = {
    "tools/check_words.py",
    "tools/checkers_test.py",
    "tools/requirements.txt",
    "tests/onnx/passed.txt",
}

# Stems of the verbs that end in -ize here and in -ise elsewhere (exercise and precise are neither).
STEMS = (
    "vector special minim maxim tensor quant recogn optim initial normal factor scalar memo final "
    "parallel serial summar general organ util stabil canonical material internal local categor penal "
    "visual priorit synchron character random equal token central custom discret linear sanit "
    "standard modern regular apolog emphas capital formal"
).split()

# Whole words, in any case, alone or as part of an identifier (`VectoriseLoops`, `is_vectorised`).
WORDS = [
    (r"(?:de|re|un)?(?:%s)is(?:e[sdr]?|ers?|ing|ations?|able)" % "|".join(STEMS), "-ize"),
    (r"(?:neighb|col|behavi|fav|flav|hon)our(?:s|ed|ing|hood|able|ite)?", "-or"),
    (r"cent(?:re|res|red)", "center"),
    (r"artefacts?", "artifact"),
    (r"judgements?", "judgment"),
    (r"analys(?:e|ed|ing)", "analyze"),
    (r"licences?", "permission (FloatPermissions), or license"),
    (r"sittings?", "tuning run"),
    (r"askers?", "requesters"),
    (r"bur(?:y|ies|ied)", "reap"),
    (r"learnt", "learned"),
    (r"(?:label|model|travel|signal)l(?:ed|ing)", "one l before -ed and -ing"),
    (r"whilst|amongst", "while, among"),
    (r"beside", "next to, in addition to, or external"),
]

# Identifiers: the replacement, and the beginnings of paths that the rule applies to.
IDENTIFIERS = {
    "bar_most": ("bar_max", ""),
    "Walls": ("WorkerPool", ""),
    "walls": ("pool", "src/measure"),
    "walls_": ("pool_", "src/measure"),
    "may_be_innocent": ("killed_externally", ""),
    "heed_stop": ("check_cancelled", ""),
    "Walk": ("Budget (trajectory) or AccessStride (axis roles)", ""),
    "note_walked": ("record_completed", ""),
    "readings_of": ("accesses_to", ""),
    "lies_in": ("storage_shape", ""),
    "Program": ("ExprEvaluator", "src/graph"),
    "TileWish": ("TileConstraints", ""),
    "Unfit": ("RejectReason", ""),
    "sums_fit": ("accumulators_fit", ""),
    "Gathering": ("CandidatePool", "src"),
    "Made": ("CandidateStatus", "src/search"),
    "set_model_is_guess": ("set_scores_unreliable", ""),
    "RowMaker": ("FeatureExtractor", ""),
    "Knowledge": ("Assumptions", "src/lower"),
    "letters_of": ("code_point_count", ""),
    "first_letters": ("first_code_points", ""),
    "kMaxLetters": ("kMaxCodePoints", ""),
    "gathering": ("pool", "src/search"),
    "judge_guess": ("check_analytic", ""),
    "guess_misleads": ("scores_unreliable", ""),
    "guessed": ("predicted", "src/tune"),
    "guessed_ns": ("analytic_ns", "src/tune"),
    "told": ("reported", ("src/", "tests/")),
    "asked": ("proposed or requested", ("src/", "tests/")),
    "asked_": ("proposed_ or requested_", ("src/", "tests/")),
    "in_turns": ("interleaved", ""),
    "note_asked": ("note_proposed", ""),
    "was_asked": ("was_proposed", ""),
    "first_asked": ("first_requested", ""),
}

# Prefixes of identifiers: a pattern of the whole name, and the replacement.
PREFIXES = [
    (re.compile(r"most_\w+|kMost(?:[A-Z]\w*)?|MOST_\w+"), "max_, kMax or MAX_"),
    (re.compile(r"least_\w+|kLeast(?:[A-Z]\w*)?|LEAST_\w+"), "min_, kMin or MIN_"),
    (re.compile(r"(?:was_)?ask(?:s|ed)_\w+"), "requested_, has_ or is_"),
]

# `one step a line`, where one step per line is meant.
COUNTED = (
    "line step case pass number object file slice table letter pointer array buffer layer index "
    "parameter operation register row task test"
).split()
PER = (
    "cpu core batch row line dimension element node round kernel task thread stage operator call "
    "program channel tile loop file family operand output input step group case pass record message "
    "process worker session second minute candidate sample trial axis lane byte model machine section "
    "argument column folder block access pair level hole query key value head"
).split()

# Phrases: a pattern within a line, and the replacement.
PHRASES = [
    (r"sees? no keys?\b", "fully masked query"),
    (r"fewer letters\b", "operand with broadcast dimensions dropped"),
    # parameters
    (r"(?:\w+_t|int|double|float) (?:most|least)(?=[,)]| = [\w.+-]+[,)])", "limit, max_ or min_"),
    (r"def \w+\(.*\b(?:most|least)(?=[,)=:])", "limit, maximum or minimum"),
    (
        r"(?:[Oo]ne|[Oo]nce|[Tt]wice|[Tt]wo|[0-9]+)(?: (?:%s)s?)? an? (?:%s)\b"
        % ("|".join(COUNTED), "|".join(PER)),
        "per in place of a",
    ),
    (
        r"(?:bytes|vectors|instructions|operations|nanoseconds|seconds|lanes|numbers|registers|elements|allocations)"
        r"[ _]an?[ _](?:cycle|second|call|run|iteration|row|thread|program|update|contestant|query|key|head|vector)\b",
        "per in place of a",
    ),
]

# Idioms that make a reader guess, in prose and as words of a name (`read_anew`). They are rejected in all files
# except tests (`has_prose`).
IDIOMS = [
    (r"[Ss]o many\b", "the number"),
    (r"of (?:its|their) own\b", "private, or separate"),
    (r"[Bb]eside other work\b", "while other processes were running"),
    (r"(?:gone|goes|go) on with\b", "resume, or continue with"),
    (r"unasked\b", "off by default"),
    (r"[Ff]or want of\b", "without"),
    (r"(?:nobody|somebody|[Ww]hoever|[Ww]hom)\b", "the name of what acts"),
    (r"(?:is|are|was|were) told\b", "receives, or is reported to"),
    (r"(?:is|are|was|were) asked\b", "is requested, or is queried"),
    (r"asked for\b", "requested, or proposed"),
    (r"for ever\b", "the limit"),
    (r"held against\b", "compared with"),
    (r"anew\b", "again"),
    (r"a wish\b", "a hint"),
    (r"tak(?:e|es|en|ing) apart\b", "decompose"),
    (r"tak(?:e|es|ing) turns\b", "alternate"),
    (r"hardly\b", "rarely, or few"),
    (r"midst\b", "during"),
    (
        r"[Bb]eside (?:the|it|its|them|that|those|this|our|ours|other|what|an?|others)\b",
        "next to, or in addition to",
    ),
    (r"gives? back\b", "return"),
    (r"(?:goes|do|does|go) without\b", "omit, or not use"),
    (r"of ours\b", "of this repository, or of this process"),
    (r"for people\b", "for display"),
    (r"says? nothing\b", "does not concern, or no output"),
    (r"once more\b", "again"),
    (r"[Bb]enches\b", "benchmarks"),
    (r"in vain\b", "without a result"),
    (r"[Ww]here there (?:is|are) (?:none|no|nothing)\b", "if there is none"),
    (r"[Ww]hat (?:\w+ ){1,4}ma(?:kes?|de) of\b", "the results of"),
    (r"lies? (?:there|beside|behind|as|where)\b", "is stored, or is in"),
    (r"held to (?:it|its|our|them|their)\b", "checked against"),
]
IDIOMS = [
    (pattern.replace(r"\b", r"(?![A-Za-z0-9])").replace(" ", "[ _]"), better) for pattern, better in IDIOMS
]
HINT = re.compile(
    r"no key|\b(?:most|least|MOST|LEAST)_|kMost|kLeast|(?:_t|int|double|float) (?:most|least)\b|"
    r"def \w+\(.*\b(?:most|least)\b|ask(?:s|ed)_|fewer letters|[ _]an?[ _](?:%s|cycle|run|iteration|update|contestant|vector)\b|" % "|".join(PER)
    + "|".join(pattern for pattern, _ in IDIOMS)
)

# Forms that are stored or accepted: the place, the permitted text, and the reason.
ALLOWED = [
    ("src/record/", "licences", "member of NDJSON records and column of the store"),
    ("src/schedule/fields.cc", "vectorise", "older traces have it"),
    ("src/schedule/trace_test.cc", "vectorise", "older traces have it"),
    ("src/record/ndjson_test.cc", "vectorise", "older records have it"),
    ("src/cli/run_test.cc", "vectorise", "a misspelled pass"),
    ("src/lower/pipeline_test.cc", "vectorise", "a misspelled pass"),
    ("src/cli/verb_compile.cc", "beside", "older value of --weights"),
    ("src/cli/model_flags_test.cc", "beside", "older value of --weights"),
    ("src/runtime/abi/model_weights.c", "beside", "names in the object that every library contains"),
    ("docs/records.md", "licences", "member of NDJSON records and column of the store"),
    ("src/cost/xgboost_model.h", "most_trees", "former name of an option"),
    ("src/cost/xgboost_model.h", "most_work", "former name of an option"),
    ("src/cost/xgboost_model.h", "least_held_out", "former name of an option"),
    ("src/cost/xgboost_model.h", "most_refitted", "former name of an option"),
    ("src/search/evolution.h", "least_of_sketch", "former name of an option"),
    ("src/cli/verb_bench.cc", "least_ns", "member of JSON that users read"),
    ("src/te/ops/table_test.cc", "sitting", "the usual example of an edit distance"),
]


def words_in(text):
    """The words of a text, including those that identifiers consist of, each once."""
    return set(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text))


@functools.cache
def replacement_of(word):
    """The replacement of a word in lower case; None if it is permitted."""
    for pattern, better in WORDS:
        if re.fullmatch(pattern, word):
            return better
    return None


def has_prose(path):
    """True if idioms are rejected in this file: all files but tests (x_test.cc, x_test.py) and fuzzers."""
    return not re.search(r"_(?:test|fuzz)\.", path)


def check_line(path, line):
    allowed = {word for place, word, _ in ALLOWED if path.startswith(place)}
    for word in words_in(line):
        better = replacement_of(word.lower())
        if better and word.lower() not in allowed:
            yield word, better
    for name in re.findall(r"\w+", line):
        better, folder = IDENTIFIERS.get(name, ("", ""))
        if better and path.startswith(folder):
            yield name, better
        for pattern, better in PREFIXES:
            if pattern.fullmatch(name) and name not in allowed:
                yield name, better
    for pattern, better in PHRASES:
        for match in re.finditer(r"\b" + pattern, line):
            yield match.group(0), better
    for pattern, better in IDIOMS if has_prose(path) else []:
        for match in re.finditer(r"(?<![A-Za-z0-9])" + pattern, line):
            yield match.group(0), better


def is_suspect(text):
    """True if the lines must be checked one by one, which most files do not need."""
    if HINT.search(text) or not IDENTIFIERS.keys().isdisjoint(re.findall(r"\w+", text)):
        return True
    return any(replacement_of(word.lower()) for word in words_in(text))


def check_tree(root):
    problems = []
    top = [(file.name, file) for pattern in TOP_LEVEL for file in sorted(root.glob(pattern))]
    for path, file in [*top, *checking.files_of(root, FOLDERS, SUFFIXES)]:
        if path in SKIPPED:
            continue
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines() if is_suspect(text) else [], 1):
            for word, better in check_line(path, line):
                problems.append(f"{path}:{number}: '{word}'; write {better}")
    return problems


if __name__ == "__main__":
    sys.exit(checking.main(check_tree, __doc__))
