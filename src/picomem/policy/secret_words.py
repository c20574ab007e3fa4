"""Words by which the checks tell a secret from what is written about secrets."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A value made of these words alone is a placeholder.
VOCABULARY = _words(
    """your my the a an of for to is in here this that new old current confirm user username name api app key
    keys token tokens secret secrets pass passwd password passwords passphrase pwd access auth client id
    private public example sample changeme change me placeholder dummy none null nil undefined true
    false yes no required optional string str text int bool bytes number object any value val insert
    replace with actual real test testing todo tbd redacted hidden masked removed login email input
    field type empty default env var variable from config settings self cls bearer basic foo bar baz xxx
    abc admin root guest data url host localhost enter set get invalid wrong missing verify reset forgot
    forget hash hashed encrypted plain plaintext credentials credential session cookie account database
    db server service github gitlab aws openai anthropic google slack stripe goes put fill raw some typed given
    entered provided temp master request response payload body params args options opts props state pw pwd class"""
)
# After or before the keyword in a key: the key names something about the secret, not the secret.
NEUTRAL_REST = _words(
    """name names file filename path dir id ids url uri endpoint type types length len size count counts limit
    max min field label hint hash hashed digest policy expiry expires expiration expire ttl age regex
    pattern header prefix suffix format version required env var ref arn manager store provider reset
    strength rules validator schema class title placeholder help error message msg usage used budget
    index idx position pos offset span start end kind column table list map set dict enabled valid at
    date time timeout attribute attr param parameter selector style input form page link icon button
    text color view model factory handler callback function func method service iter generator stream
    lines line hasher hashers algorithm alg pubkey public"""
)
NEUTRAL_BEFORE = _words(
    """max min num no n next prev previous page continuation count total public primary foreign sort partition
    cancellation cancel eos bos pad unk mask sep cls stop start end special cursor cache idempotency
    csrf xsrf syntax expected lock row hot registry dictionary map config"""
)
# “The … key is …”: keys of other things than locks.
OTHER_KEYS = NEUTRAL_BEFORE | _words("object bucket issue host json ssh search answer data group storage hash dict")
CODE_TYPES = _words(
    """str string String bytes int bool Optional None null Any SecretStr Text text number object required
    optional undefined boolean unknown never void password Password Final"""
)
# “The password is …”: what people say about passwords.
NOT_SAID = _words(
    """required wrong incorrect correct invalid valid missing empty secure safe weak strong secret stored
    hashed encrypted expired changed reset needed optional not never always also still only now being
    sent shown hidden set saved kept too very quite just that this what there here the a an in on at of
    for from with by as to case-sensitive unknown known short long simple easy hard fine good bad okay
    same different unique random generated visible plaintext string null none true false your their our
    his her its it something anything nothing everything somewhere elsewhere nowhere mandatory compulsory blank
    unchanged confidential private public gone below above ready disabled yours ours mine theirs hers unset locked next
    wrongly outdated obsolete"""
)
# Words without a vowel that names of variables are made of.
ABBREVIATIONS = _words(
    """pwd psw txt str btn tmp src dst ptr ctx cfg msg cmd pkg fmt req cls cnt nbr fld frm html http https css xml sql
    ssh tcp tls ssl ldp dns jwt hdr ptr rsp usr grp mgr svc srv rpc grpc lst dct bstr wstr prm var"""
)
# Words that hold sentences together, none of which is in a list of words for wallets.
SENTENCE_WORDS = _words(
    """the and are for from should was were has had not our its his her him but which while who whom does did might
    would could been being their these those than with your both"""
)
# Words of sentences and names about secrets, none of which somebody draws for a passphrase.
CHAIN_BREAKERS = _words(
    """vault store stored keyring keychain manager prod production staging dev local word words letters characters
    chars digits days hours minutes seconds times once twice least most more less than after before until when where
    every each all one two three four five six seven eight nine ten you they she who how why can will may must shall
    asked ask used use using get gets see look over under into onto off out down then else per via about because
    please keep remember store copy paste read write sensitive insensitive protected based generated manually
    automatically interactively anymore yet again both either neither but though since while during derived comes
    lives stays needs works fails expires changes have does did make take like want know think"""
)
SESSION_NAMES = (
    "sess",
    "sid",
    "auth",
    "token",
    "jwt",
    "remember",
    "identity",
    "access",
    "refresh",
    "secret",
    "key",
)
