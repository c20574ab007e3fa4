r"""What a secret looks like, as data: the rules that `secret_scanners` runs.

A rule is a pattern in the syntax that RE2 and Python's `re` share (no look-around, no back-reference). The
group `secret` (or `value`, or one for each way to quote it) is what gets replaced. Fast and safe by this:

- `gates` are literals, one of which stands in (or beside) every match; a text without them is never scanned.
  They are lower-case and compared without regard to case.
- A pattern starts at a literal and then repeats one character class, or a bounded number of characters, so
  that a failed match costs a bounded look, not a search: `re` is not linear by itself.
- What a pattern cannot say (is this value code, a placeholder, a word?) is left to a named check in
  `secret_checks`.

Vendors publish the shapes of their tokens for secret scanning; these are from general knowledge. An id goes
into the placeholder, so it is part of what is stored: do not rename one lightly.
"""

from __future__ import annotations

from picomem.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    `check` names a function in `secret_checks` that may still say no; `within` is a pattern that marks the
    only regions in which `pattern` counts.
    """

    id: str
    gates: tuple[str, ...]
    pattern: str
    check: str = ""
    within: str = ""


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
    his her its it something anything nothing everything somewhere"""
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

# Before a token: a word boundary, an escape as it stands in JSON (`\n`), or a percent-escape.
_START = r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{2})"


def _gates(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _token(kind: str, gates: str, shape: str, check: str = "varied") -> Rule:
    """A token that its own shape gives away; `gates` parted by spaces."""
    return Rule(kind, _gates(gates), f"{_START}(?P<secret>{shape})", check)


def _lone(kind: str, gates: str, shape: str, check: str = "mixed") -> Rule:
    """A token whose prefix is so short that Base64 may hold it: it must not follow a sign of that."""
    return Rule(kind, _gates(gates), rf"(?:^|[^\w/+.-]|\\[nrt])(?P<secret>{shape})", check)


_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

_TOKENS = (
    # Clouds and hosting
    _token("aws-access-key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    _token("aws-bedrock-key", "absk", r"ABSK[A-Za-z0-9+/]{80,}={0,2}"),
    _token("google-api-key", "aiza", r"AIza[\w-]{35}"),
    _token("google-oauth-secret", "gocspx-", r"GOCSPX-[\w-]{20,}"),
    _token("google-oauth-token", "ya29. 1//0", r"(?:ya29\.[\w-]{20,}|1//0[\w-]{40,})"),
    _token("azure-client-secret", "q~", r"[\w~.-]{3}\dQ~[\w~.-]{31,34}"),
    _token("azure-service-key", "jqqj9", r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}"),
    _token("azure-devops-token", "azdo", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    _lone("alibaba-access-key", "ltai", r"LTAI[A-Za-z0-9]{12,24}\b"),
    _token("tencent-secret-id", "akid", r"AKID[A-Za-z0-9]{32}\b"),
    _token("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("heroku-key", "hrku-", r"HRKU-[\w-]{36,}"),
    _token("fly-token", "fm1r_ fm2_ fo1_", r"(?:fm1r_|fm2_|fo1_)[\w+/=-]{40,}"),
    _token("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"vc[piark]_[A-Za-z0-9]{24,}"),
    _token("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,}"),
    _token("render-key", "rnd_", r"rnd_[A-Za-z0-9]{28,}"),
    _token("cloudflare-origin-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    _token("tailscale-key", "tskey-", r"tskey-[a-z]+-[\w-]{16,}"),
    _token("scaleway-key", "scw", r"SCW[A-Z0-9]{17}\b"),
    _token("ibm-cloud-key", "apikey-", r"ApiKey-" + _UUID),
    # Git hosts and CI
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _token("github-fine-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,}"),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{20,}",
    ),
    _token("gitlab-runner-token", "gr1348941", r"GR1348941[\w-]{20,}"),
    _token("bitbucket-token", "atbb atctt3", r"(?:ATBB[A-Za-z0-9]{24,}|ATCTT3xFf[\w=+/-]{60,})"),
    _token("atlassian-token", "atatt3", r"ATATT3[\w=+/-]{60,}"),
    _token("sourcegraph-token", "sgp_", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    _token("circleci-token", "ccipat_ cciprj_", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,}_[a-f0-9]{40}"),
    _token("buildkite-token", "bkua_ bkct_", r"bk(?:ua|ct)_[a-z0-9]{40,}"),
    _token("sonar-token", "squ_ sqp_ sqa_", r"sq[upa]_[a-f0-9]{40}"),
    _token("octopus-key", "api-", r"API-[A-Z0-9]{25,26}\b", "mixed"),
    # Chat
    _token(
        "slack-token",
        "xoxb- xoxa- xoxp- xoxo- xoxs- xoxr- xoxe xoxd- xoxc-",
        r"xox(?:[abcdoprs]|e(?:\.xox[bp])?)-[\w%-]{10,}",
    ),
    _token("slack-app-token", "xapp-", r"xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{32,}"),
    Rule(
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/]{20,})",
        "varied",
    ),
    Rule("discord-webhook", ("/api/webhooks/",), r"/api/webhooks/\d{5,25}/(?P<secret>[\w-]{40,})", "varied"),
    Rule(
        "teams-webhook",
        ("incomingwebhook/",),
        r"IncomingWebhook/(?P<secret>[0-9a-f]{32}(?:/[0-9a-f-]{36})?)",
    ),
    _token(
        "discord-token",
        "discord bot token run(",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}\b",
        "mixed",
    ),
    _token("telegram-token", ":aa", r"\d{8,10}:AA[\w-]{32,}"),
    Rule("telegram-url", ("telegram.org/bot",), r"telegram\.org/bot(?P<secret>\d{8,10}:[\w-]{30,})", "varied"),
    _token("twilio-key", "sk", r"SK[0-9a-f]{32}\b"),
    # Payment and commerce
    _token("stripe-key", "_live_ _test_ _prod_", r"[rsp]k_(?:live|test|prod)_[A-Za-z0-9]{16,}"),
    _token("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    _lone("square-token", "sq0 eaaa", r"(?:sq0(?:atp|csp|idp)-[\w-]{22,}|EAAA[\w-]{56,})"),
    _token(
        "braintree-token",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    _token("razorpay-key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_", r"shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}"),
    _token("flutterwave-key", "flwseck", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"),
    _token("mollie-key", "live_ test_", r"(?:live|test)_[A-Za-z0-9]{30,}", "mixed"),
    _token("plaid-token", "access-", r"access-(?:sandbox|development|production)-" + _UUID),
    _token("easypost-key", "ezak eztk", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _token("duffel-token", "duffel_", r"duffel_(?:test|live)_[\w-]{40,}"),
    _token("shippo-token", "shippo_", r"shippo_(?:live|test)_[a-f0-9]{40}"),
    # Models and their tools
    _token("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,}"),
    _token("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}"),
    _token("openrouter-key", "sk-or-", r"sk-or-v1-[a-f0-9]{48,}"),
    _token("sk-key", "sk-", r"sk-(?:[a-z0-9]{2,8}-)?[A-Za-z0-9]{30,}(?:-[\w-]+)?", "mixed"),
    _token("langfuse-key", "-lf-", r"[sp]k-lf-" + _UUID),
    _token("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", "mixed"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37,}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _token("fireworks-key", "fw_", r"fw_[A-Za-z0-9]{20,}", "mixed"),
    _token("nvidia-key", "nvapi-", r"nvapi-[\w-]{60,}"),
    _token("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    _token("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}"),
    _token("cerebras-key", "csk-", r"csk-[a-z0-9]{40,}"),
    _token("voyage-key", "pa-", r"pa-[A-Za-z0-9_-]{40,}", "mixed"),
    _token("jina-key", "jina_", r"jina_[A-Za-z0-9_-]{48,}"),
    _token("tavily-key", "tvly-", r"tvly-(?:dev-|prod-)?[\w-]{20,}"),
    _token("firecrawl-key", "fc-", r"fc-[a-f0-9]{32}"),
    _token("pinecone-key", "pcsk_", r"pcsk_\w{40,}"),
    _token("e2b-key", "e2b_", r"e2b_[a-f0-9]{40}"),
    _token("runpod-key", "rpa_", r"rpa_[A-Za-z0-9]{40,}"),
    _token("llamacloud-key", "llx-", r"llx-[A-Za-z0-9]{40,}"),
    _token("apify-token", "apify_api_", r"apify_api_[A-Za-z0-9]{30,}"),
    _token("mem0-key", "m0-", r"m0-[A-Za-z0-9]{36,}", "mixed"),
    _token("together-key", "tgp_v1_", r"tgp_v1_[\w-]{40,}"),
    _lone("brave-key", "bsa", r"BSA[A-Za-z0-9_-]{24,}\b"),
    _token("mapbox-token", "sk.eyj", r"sk\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    # Package registries
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    _token("pypi-token", "pypi-ag", r"pypi-Ag[A-Za-z0-9][\w-]{50,}"),
    _token("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _lone("crates-token", "cio", r"cio[A-Za-z0-9]{32}\b"),
    _lone("nuget-key", "oy2", r"oy2[a-z0-9]{43}\b"),
    _token("docker-token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,}"),
    _lone("artifactory-key", "akcp cmvmd", r"(?:AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{59,})"),
    _token("clojars-token", "clojars_", r"CLOJARS_[A-Za-z0-9]{60}"),
    # Observability
    _token("newrelic-key", "nrak- nrjs- nriq- nrra- nrii-", r"NR(?:AK|JS|IQ|RA|II)-[\w-]{19,}"),
    _token("grafana-token", "glsa_ glc_", r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})"),
    _token("sentry-token", "sntrys_ sntryu_", r"(?:sntrys_eyJ[\w+/=-]{40,}|sntryu_[a-f0-9]{64})"),
    _token("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("posthog-key", "phx_", r"phx_[A-Za-z0-9]{36,}"),
    _token("logfire-token", "pylf_", r"pylf_v\d_[a-z]{2}_[A-Za-z0-9]{30,}"),
    _token("launchdarkly-key", "sdk- mob- api-", r"(?:sdk|mob|api)-" + _UUID),
    _token("axiom-token", "xaat- xapt-", r"xa[ap]t-" + _UUID),
    # Databases and secret stores
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,}"),
    _token("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    _token("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}"),
    _token("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    _token("onepassword-token", "ops_eyj", r"ops_eyJ[\w+/=-]{80,}"),
    _token("onepassword-key", "a3-", r"A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}\b"),
    _token("age-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _lone("bitcoin-key", "wif wallet importprivkey bitcoin btc privkey", r"[5KL][1-9A-HJ-NP-Za-km-z]{50,51}\b"),
    _token("extended-private-key", "xprv yprv zprv tprv", r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}\b"),
    _lone("laravel-key", "base64:", r"base64:[A-Za-z0-9+/]{43}="),
    _token("swarm-token", "swmtkn-", r"SWMTKN-\d-[a-z0-9]{40,60}-[a-z0-9]{20,30}\b"),
    _token("cloudflare-tunnel", "eyjhijoi", r"eyJhIjoi[A-Za-z0-9_-]{60,}={0,2}"),
    _token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    _token("neon-key", "napi_", r"napi_[a-z0-9]{50,}"),
    _token("supabase-key", "sbp_ sb_secret_", r"(?:sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,})"),
    _token("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _token("aiven-password", "avns_", r"AVNS_[\w-]{19,}"),
    _token("clickhouse-key", "4b1d", r"4b1d[A-Za-z0-9]{38}\b"),
    _token("mongodb-secret", "mdb_sa_sk_", r"mdb_sa_sk_[\w-]{30,}"),
    # E-mail and other services
    _token("sendgrid-key", "sg.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    _token("mailgun-key", "key-", r"key-[a-f0-9]{32}\b"),
    _token("mailchimp-key", "-us", r"[a-f0-9]{32}-us\d{1,2}\b"),
    _token("brevo-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _token("resend-key", "re_", r"re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}\b", "mixed"),
    _token("mailersend-key", "mlsn.", r"mlsn\.[a-f0-9]{64}"),
    _token("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _token("notion-token", "secret_ ntn_", r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})"),
    _token("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _token("figma-token", "figd_ figo_", r"fig[do]_[\w-]{36,}"),
    _token("hubspot-token", "pat-", r"pat-(?:na|eu)\d-" + _UUID),
    _token("postman-key", "pmak-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _lone("facebook-token", "eaa", r"EAA[A-Za-z0-9]{80,}"),
    _token("typeform-token", "tfp_", r"tfp_[\w.=-]{40,}"),
    _token("contentful-token", "cfpat-", r"CFPAT-[\w-]{43}"),
    _token("prefect-key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    _token("readme-key", "rdme_", r"rdme_[a-z0-9]{60,}"),
    _token("dropbox-token", "sl.", r"sl\.[\w-]{100,}"),
    _token("okta-token", "ssws", r"SSWS\s+00[\w-]{38,44}"),
    _token("twitter-bearer", "aaaaaaaa", r"A{20,24}[A-Za-z0-9%]{70,110}"),
)

# The word for a password in languages that do not borrow the English one, with the verb of “the password is”.
_FOREIGN = (
    r"wachtwoord|lösenord(?:et är|et)?|adgangskoden?|salasana(?: on)?|mật khẩu(?: là)?|kata sandi(?:nya)?|mdp"
    r"|κωδικός(?: είναι)?|كلمة (?:المرور|السر)(?: هي)?|ה?סיסמה(?: היא)?|पासवर्ड|รหัสผ่าน"
)
_FOREIGN_GATES = "wachtwoord senord adgangskode salasana khẩu sandi mdp κωδικ كلمة סיסמה पासवर्ड รหัสผ่าน"
# “The password for …”, in the languages that the sentences of the rule “spoken” are in.
_PREPOSITIONS = (
    "for|to|of|on|at|in|that|which|we|i|you|für|fürs|von|vom|zum|zur|der|des|im|du|de|do|da|del|della|dello|dell|di|per"
    "|para|pour|au|aux|en|no|na|до|для|от|к|ко|на|в|till|voor|van"
)
# Words that make the key of an assignment a secret's name. `secret_checks` splits the whole key and looks again.
_KEYWORDS = (
    r"passw(?:or)?d|passphrase|passcode|passwort|senha|contraseña|pwd|pass|pw\b|secret|token|credentials?"
    r"|(?:api|access|account|auth|private|encryption|encrypt|signing|signature|session|master|license|app|application"
    r"|validation|decryption|client|consumer|service|storage|subscription|deploy|admin|webhook|hmac|jwt|aes"
    r"|openai|anthropic|secret|(?:pre[_-]?)?shared|shared[_-]?access|functions?)"
    r"[_-]?key|_auth|passwort|kennwort|psk|pepper|密码|密碼|口令|授权码|密钥|秘钥|私钥|令牌|пароль|" + _FOREIGN
)
_KEY_GATES = _gates(
    "pwd pass pw secret token credential key _auth senha contrase kennwort psk pepper"
    " 密码 密碼 口令 授权码 密钥 秘钥 私钥 令牌 пароль " + _FOREIGN_GATES
)
_VALUE = (
    r"""(?:[@bBuULN]?\\{0,3}"(?P<double>[^"\n]+?)\\{0,3}(?:"|$)|[@bBuULN]?'(?P<single>[^'\n]+)'|`(?P<tick>[^`\n]+)`"""
    r"""|(?P<bare>[^\s"'`,;&<>(){}\[\]|\\][^\s"'`,;&<>(){}\[\]|\\]*))"""
)
# What Markdown and HTML put around a label or a value, and what stands between the two.
_EMPHASIS = r"(?:[*_`~]|</?(?:b|strong|em|i|code|kbd|t[dhr])>)"
_QUALIFIER = r"(?:\s{0,2}[(（\[][^()（）\[\]\n]{1,40}[)）\]]|\s(?:for|of|on|at|in)\s[^\n:：=|(*`]{1,40}?)"
_LABEL_SIGN = r"[|–—]|</t[dh]>\s{0,3}<td>|</(?:b|strong)>"
_LABEL_WORD = r":=|[:：=]|\b(?:is|was|ist)\b"
_LABEL_KEY = (
    r"passw(?:or)?d|pass[ -]?phrase|passcode|passwort|kennwort|contraseña|senha|mot de passe|pwd|psk|pass|pw|secret"
    r"|token|(?:api|access|secret|private|license|signing|encryption|master|service|account|auth|storage|deploy"
    r"|admin|webhook)"
    r"[ _-]?key|(?-i:_KEY)|密码|密碼|口令|密钥|秘钥|私钥|令牌|пароль|パスワード|パスフレーズ|비밀번호"
)
_WORD_CHAIN = r"[A-Za-z]{3,14}(?:[ .,_-][A-Za-z]{3,14}){1,9}(?:[ ._-]?[0-9]{1,4})?"
_PEM_GLUE = r"""(?:\\{1,4}[nrt]|[\s"'+>|,:;→\\.-]|[0-9]{1,4}[\t→|:])"""

_SHAPES = (
    Rule(
        "private-key",
        ("private key",),
        r"-{4,5} ?BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        rf"{_PEM_GLUE}{{0,30}}(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset)[^\n]{{0,120}}?(?:\n"
        rf"|\\n){_PEM_GLUE}{{0,30}}){{0,4}}"
        r"(?P<secret>[A-Za-z0-9+/=]{16,}(?:[^-]|-{1,2}[^-])*)",
        "pem",
    ),
    Rule(
        "putty-key",
        ("private-lines:",),
        r"Private-Lines: \d+\s+(?P<secret>(?:[A-Za-z0-9+/=]{4,64}\s+)*[A-Za-z0-9+/=]{4,64})(?:\s|$)",
        "varied",
    ),
    Rule(
        "ansible-vault",
        ("$ansible_vault;",),
        r"\$ANSIBLE_VAULT;\d\.\d;AES256(?:;[\w.-]{1,60})?(?:\s|\\[nr])+"
        r"(?P<secret>(?:[0-9a-f]{80}(?:\s|\\[nr])+)*[0-9a-f]{2,80})",
    ),
    Rule(
        "jwt",
        ("eyj",),
        r"(?:^|[^\w-]|\\[nrt]|%[0-9A-Fa-f]{2})"
        r"(?P<secret>eyJ[\w-]{8,}\.(?:eyJ[\w-]{4,}(?:\.[\w-]*)?|[\w-]*(?:\.[\w-]+){1,3}))",
        "varied",
    ),
    Rule(
        "url-password",
        ("://",),
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>`]{0,100}:(?P<secret>[^\s/\"'<>`]+)@[\w.\[$-]",
        "embedded",
    ),
    Rule("url-token", ("://",), r"https?://(?P<secret>[\w-]{20,})(?::x-oauth-basic)?@", "mixed"),
    Rule(
        "authorization",
        ("bearer", "authorization"),
        r"(?i)(?:\bbearer\s{1,4}|\bauthorization[\"']?\s{0,4}[:=,]\s{0,4}[\"'`]?"
        r"(?:(?:token|apikey|digest|key|bearer)[ :=]{1,4})?)"
        r"(?P<secret>[\w.~+/=:-]{12,})",
        "mixed",
    ),
    Rule("basic-auth", ("basic ",), r"(?i)\bbasic\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})", "basic"),
    Rule(
        "cookie",
        ("cookie", "curl"),
        r"(?P<key>[\w.-]+)=(?P<secret>[^\s;\"',]{8,})",
        "cookie",
        within=r"(?i)\b(?:set-)?cookies?[\"']?\s{0,4}(?:[:=,]|\s)\s{0,4}[\"']?[^\n\"']{8,}"
        r"|\s-b\s{1,4}[\"'][^\n\"']{8,}",
    ),
    Rule(
        "session-id",
        ("sess", "connect.sid"),
        r"(?i)\b(?:phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|sessionid|session_token"
        r"|sessid)[\"']?\s{0,4}[=:]\s{0,4}[\"']?"
        r"(?P<secret>[\w%.+/~-]{16,})",
        "mixed",
    ),
    Rule(
        "signed-url",
        ("sig=", "signature="),
        r"(?i)[?&;](?:sig|x-amz-signature|x-goog-signature|signature)=(?P<secret>[\w%+/=-]{24,})",
        "varied",
    ),
    Rule("otp-secret", ("otpauth://",), r"otpauth://[^\s\"']{0,200}?secret=(?P<secret>[A-Za-z2-7]{8,})"),
    Rule(
        "otp-seed",
        ("otp", "2fa", "mfa", "authenticator", "two-factor", "oathtool"),
        r"(?i:otp|2fa|mfa|authenticator|two-factor|oathtool)[^\n]{0,40}?[^A-Za-z0-9\n]"
        r"(?P<secret>[A-Z2-7]{16,64}|(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4})(?:[^A-Za-z0-9]|$)",
        "drawn",
    ),
    Rule(
        "seed-phrase",
        ("phrase", "mnemonic", "seed", "wallet", "助记词"),
        r"(?i:(?:seed|recovery|backup|secret|wallet|mnemonic)[ _-]?(?:phrase|words?)|mnemonic|助记词)[\w\"'`]{0,12}"
        r"[^\n]{0,30}?(?:[:=：→]|\bis\b|\bare\b|\bwas\b|是|为)[\s\"'“`\[]{0,8}"
        r"(?P<secret>(?:(?:[0-9]{1,2}[.)]\s?)?[a-z]{3,8}[\s,\"']{1,4}){11,23}(?:[0-9]{1,2}[.)]\s?)?[a-z]{3,8})",
        "seed",
    ),
    Rule(
        "password-hash",
        _gates(
            "$2 $1 $5 $6 $7 $y $gy $apr1 $argon2 $scrypt pbkdf2 scrypt: sha} md5} sha256} sha384} sha512}",
        ),
        r"(?P<secret>\$2[abxy]?\\{0,2}\$\d\d\\{0,2}\$[./A-Za-z0-9]{53}"
        r"|\$(?:[1567y]|gy|apr1)\\{0,2}\$(?:rounds=\d{1,9}\\{0,2}\$)?"
        r"(?:[./A-Za-z0-9]{1,60}\\{0,2}\$){1,2}[./A-Za-z0-9]{20,90}"
        r"|\$argon2(?:id|i|d)\$(?:v=\d{1,3}\$)?[mtp=,\d]{5,40}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,130}"
        r"|\$scrypt\$[a-z=,\d]{5,40}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,130}"
        r"|pbkdf2_sha\d{1,3}\$\d{1,8}\$[^\s$]{4,64}\$[A-Za-z0-9+/]{24,90}={0,2}"
        r"|(?:scrypt:\d{1,7}:\d{1,3}:\d{1,3}|pbkdf2:sha\d{1,3}(?::\d{1,8})?)\$[A-Za-z0-9]{4,32}\$[0-9a-f]{32,128}"
        r"|\{(?:S?SHA|S?MD5|SSHA(?:256|384|512)|SHA(?:256|384|512))\}[A-Za-z0-9+/]{20,120}={0,2})",
        "varied",
    ),
    Rule(
        "ntlm-hash",
        (":::",),
        r":\d{1,6}:(?P<secret>[0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::",
    ),
    Rule(
        "aws-secret",
        ("aws", "secret", "credential"),
        r"(?i:aws|secret|credential)[^\n]{0,80}?[^A-Za-z0-9/+=\n](?P<secret>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        "mixed-case",
    ),
    Rule("query-key", ("?key=", "&key="), r"[?&]key=(?P<secret>[\w-]{20,})", "mixed"),
    Rule(
        "jwk",
        ('"d"', '"k"', '"d\\', '"k\\'),
        r"\"[dk]\\{0,3}\"\s{0,3}:\s{0,3}\\{0,3}\"(?P<secret>[\w-]{40,})",
        "mixed",
    ),
    Rule(
        "docker-auth",
        ("auth",),
        r"(?i)(?:\b|_)auth\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?(?P<secret>[A-Za-z0-9+/]{8,}={0,2})",
        "basic",
    ),
    Rule(
        "oracle-login",
        ("oracle:thin:", "sqlplus"),
        r"(?i)(?:oracle:thin:|\bsqlplus\s(?:-\w{1,6}\s){0,3})[^\s/@]{1,60}/(?P<secret>[^\s@]{3,})@",
        "embedded",
    ),
    Rule(
        "login-arguments",
        ("credential", "pdo(", "mysqli"),
        r"(?i)(?:credentials?\(|\bpdo\(|\bmysqli?(?:_connect)?\()\s{0,3}"
        r"(?:[\"'][^\"'\n]{0,100}[\"']\s{0,2},\s{0,3}){1,2}"
        r"[\"'](?P<secret>[^\"'\n]{3,80})[\"']",
        "embedded",
    ),
    Rule(
        "go-data-source", ("@tcp(", "@unix("), r"\b[\w.-]{1,40}:(?P<secret>[^\s@\"'/]{3,})@(?:tcp|unix)\(", "embedded"
    ),
    Rule("unseal-key", ("unseal key",), r"(?i)unseal key \d{1,2}: (?P<secret>[a-z0-9+/]{40,}={0,2})", "varied"),
    Rule(
        "kubeadm-token", ("--token", "kubeadm"), r"--token[ =](?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?:\s|$)", "varied"
    ),
    Rule("wifi-code", ("wifi:",), r"WIFI:[^\n]{0,100}?P:(?P<secret>[^;\n]{4,63});", "embedded"),
    Rule(
        "auth-pair",
        ("auth", "login("),
        r"(?i)(?:auth\s{0,2}=\s{0,2}\(|basic_?auth\w{0,20}\(|\blogin\()\s{0,3}[\"'][^\"'\n]{1,80}[\"']\s{0,2},\s{0,3}"
        r"[\"'](?P<secret>[^\"'\n]{3,80})[\"']",
        "embedded",
    ),
    Rule(
        "secure-string",
        ("securestring",),
        r"(?i)ConvertTo-SecureString\s{1,3}(?:-AsPlainText\s|-Force\s|-String\s){0,3}[\"']"
        r"(?P<secret>[^\"'\n]{3,})[\"']",
        "embedded",
    ),
    Rule(
        "terraform-default",
        ("variable",),
        r"\bvariable\s{1,3}\"(?P<key>\w{0,40}?(?:password|passwd|passphrase|secret|token|api_?key"
        r"|access_?key)\w{0,20})\""
        r"\s{0,3}\{[^{}]{0,300}?\bdefault\s{0,8}=\s{0,3}\"(?P<value>[^\"\n]{3,})\"",
        "paired",
    ),
    Rule(
        "named-secret",
        ("set -", "setx", "env ", "arg ", "configure set", "config set", "secret set", "setenvironmentvariable"),
        r"(?i)(?:\bset\s{1,3}-[a-z]{1,4}\s|\bsetx\s|\benv\s|\barg\s|\bconfigure set\s|\bconfig set\s|\bsecret set\s"
        r"|\bSetEnvironmentVariable\()\s{0,3}[\"']?"
        r"(?P<key>[\w.:/-]{0,60}?(?:password|passwd|passphrase|secret|token|api_?key|access_?key|_key|pwd"
        r"|pass)[\w.-]{0,20})"
        r"[\"']?[,\s]\s{0,3}(?:(?:--body|-b|--value)[\s=]{1,2})?[\"']?(?P<value>[^\s\"'<>]{3,})",
        "paired",
    ),
    Rule(
        "sql-password",
        ("password",),
        r"(?i)(?:\bwith\s(?:encrypted\s)?|\b(?:user|role|login)\s{1,3}\S{1,60}\s{1,3}(?:with\s{1,3})?|=\s{0,2})"
        r"password\s{0,2}(?:\(\s{0,2}|=\s{0,2}|\s|as\s){0,3}N?'(?P<secret>[^'\n]{3,})'",
        "embedded",
    ),
    Rule(
        "curl-user",
        ("curl", "--user", "http"),
        r"(?:\bcurl\b[^\n|]{0,300}?\s-u|--(?:proxy-)?user|\b(?:https?|xhs?)\s[^\n|]{0,200}?(?:-a|--auth)[ =])"
        r"[ =]{0,2}[\"']?[^\s:\"'/$]{1,80}:(?P<secret>[^\s\"']{2,})",
        "embedded",
    ),
    Rule(
        "client-password",
        (
            "mysql",
            "mariadb",
            "sshpass",
            "docker",
            "podman",
            "redis-cli",
            "az ",
            "ldap",
            "helm",
            "mongo",
            "7z",
            "zip",
            "ssh-keygen",
            "sqlcmd",
            "ansible-vault",
            "rdesktop",
            "freerdp",
            "snmp",
        ),
        r"\b(?:(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;]{0,200}?\s-p"
        r"|(?:sshpass|(?:docker|podman|helm registry|az) login|mongo|mongosh|mongodump|rdesktop|7z[a-z]?)\b"
        r"[^\n|;]{0,200}?\s-p\s{0,3}"
        r"|(?:(?:un)?zip|sqlcmd|ssh-keygen)\b[^\n|;]{0,200}?\s-[NP]\s{0,3}"
        r"|(?:redis-cli|ldap[a-z]{3,10}|snmp(?:walk|get|set|bulkwalk))\b[^\n|;]{0,200}?\s-[acw]\s{1,3}"
        r"|xfreerdp\d?\s[^\n|;]{0,80}?/p:|ansible-vault encrypt_string\s{1,3})"
        r"""(?:"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<bare>[^\s"'-][^\s"']*))""",
        "typed",
    ),
    Rule(
        "sudo-password",
        ("sudo", "passwd", "login", "echo", "printf"),
        r"(?:(?:echo|printf)\s{1,3}(?:-\w\s)?[\"']?(?:[^\s:\"'|]{1,60}:"
        r"(?P<value>[^\s\"'|]{3,})[\"']?\s{0,3}\|\s{0,3}(?:sudo\s)?chpasswd"
        r"|(?P<secret>[^\s\"'|]{3,})[\"']?\s{0,3}\|\s{0,3}(?:sudo\s[^\n]{0,40}?-S"
        r"|(?:sudo\s)?passwd\s|(?:docker|podman|helm registry)\slogin))"
        r"|\bsudo\s[^\n]{0,40}?-S[^\n]{0,40}?<<<\s{0,2}[\"']?(?P<bare>[^\s\"']{3,}))",
        "embedded",
    ),
    Rule(
        "net-use",
        ("net use",),
        r"(?i)\bnet use\s{1,3}(?:[A-Z]:\s{1,3})?\\{2,4}\S{1,80}\s{1,3}(?:/user:\S{1,60}\s{1,3})?"
        r"(?P<secret>[^\s/*]\S{2,})",
        "embedded",
    ),
    Rule(
        "expect-script",
        ("assword:",),
        r"assword: ?[\"'][^\n]{0,20}\n\s{0,8}(?:exp_)?send\s{1,3}(?:--\s)?[\"'](?P<secret>[^\"'\n\\]{3,})",
        "embedded",
    ),
    Rule("snmp-community", ("snmp-server",), r"snmp-server community\s{1,3}(?P<secret>\S{3,})", "embedded"),
    Rule(
        "quoted-after-name",
        _gates("password passwd passphrase"),
        r"(?i)(?P<key>[\w.-]{0,40}?(?:password|passwd|passphrase))(?:\s{1,3}|[({]\s{0,2}|,\s{1,3})@?[\"']"
        r"(?P<value>[^\"'\s]{4,80})[\"']",
        "told",
    ),
    Rule(
        "recovery-codes",
        ("recovery code", "backup code", "scratch code", "rescue code", "恢复码"),
        r"(?i:(?:recovery|backup|scratch|rescue) codes?|恢复码)(?:\s(?:is|are|was))?\s{0,2}[:：]?\s{0,3}[\"'`]?"
        r"(?P<secret>[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,3}(?:[\s,]{1,3}[A-Za-z0-9]{3,8}"
        r"(?:-[A-Za-z0-9]{3,8}){1,3}){0,15})",
        "coded",
    ),
    Rule("openssl-pass", ("pass:",), r"-pass(?:in|out)?[ =]\"?pass:(?P<secret>[^\s\"']{3,})", "embedded"),
    Rule(
        "netrc",
        ("machine", "default login"),
        r"\b(?:machine\s{1,9}\S{1,200}|default)\s{1,9}login\s{1,9}\S{1,200}\s{1,9}password\s{1,9}(?P<secret>\S{3,})",
        "embedded",
    ),
    Rule(
        "pgpass",
        (":5432:", ":5433:", ":6432:", ":*:"),
        r"(?m)^[\w.*-]{1,100}:(?:5432|5433|6432|\*):[\w*.-]{1,63}:[\w*.@-]{1,63}:(?P<secret>[^\s:][^\s]{2,})$",
        "embedded",
    ),
    Rule(
        "flag",
        ("--", "-pass", "-token", "-secret", "-key", "pass ", "pass=", "-storepass", "-keypass", "-pwd"),
        r"(?i)(?:^|[\s\"'])--?(?P<key>[\w-]{0,30}?(?:passw(?:or)?d|passphrase|secret|token|(?:api|access|auth"
        r"|account)-?key|pwd|pass))"
        r"""(?:=|\s{1,3}|["'],\s{0,3})(?:"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<bare>[^\s"'-][^\s"',]*))""",
        "typed",
    ),
    Rule(
        "paired-value",
        ("value",),
        r"(?i)(?:name|key|variable)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<key>[\w.:-]{0,40}?(?:passw(?:or)?d"
        r"|passphrase|secret|token|api_?key|access_?key|pwd)"
        r"[\w.:-]{0,20})[\"']?\s{0,3},?\s{0,40}[\"']?value[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<value>[^\s\"'<>]{3,})",
        "paired",
    ),
    Rule(
        "element",
        ("</",),
        r"(?i)<(?P<key>[\w:.-]{0,40}?(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key|pwd|pass))"
        r"(?:\s[^<>\n]{0,80})?>"
        r"(?P<value>[^<\s]{3,200})</",
        "paired",
    ),
    Rule(
        "environment",
        _gates("pass passw pwd secret token key"),
        r"(?m)(?:^|[\s;&])(?P<key>[A-Z0-9_]{0,40}?(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|KEY)"
        r"(?:_[A-Z0-9_]{1,30})?)"
        r"=(?P<bare>[^\s\"'`$(){}<>\[\]][^\s\"'`]*)",
        "assigned",
    ),
    Rule(
        "assignment",
        _KEY_GATES,
        rf"(?i)(?P<key>{_KEYWORDS})(?P<rest>[\w-]{{0,40}})"
        r"(?P<close>[\"'`\]\\]{0,4})\s{0,8}(?P<op>:\s{0,2}[\w.\[\]&*<>']{1,30}(?:\s{0,2}\|\s{0,2}None)?\s{1,2}=|:=|=>|={1,3}|!==?|->|[:：=,])\s{0,8}"
        + _VALUE,
        "assigned",
    ),
    Rule(
        "variable",
        _gates("pass passw pwd secret token key"),
        r"(?:^|[^A-Za-z0-9_])(?:[A-Z0-9_]{0,40}?_)?(?P<key>PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|KEY)"
        r"[\"'`]?\s{0,3}:\s{1,4}" + _VALUE,
        "assigned",
    ),
    Rule(
        "label",
        _gates(
            "token secret passw passphrase passcode pwd pw pass psk key contrase senha kennwort"
            " 密码 密碼 口令 密钥 秘钥 私钥 令牌 пароль パスワード パスフレーズ 비밀번호"
        ),
        rf"(?i)(?P<key>{_LABEL_KEY})(?:[_-]\w{{1,30}})?"
        rf"(?:(?:{_EMPHASIS}{{1,6}}{_QUALIFIER}?|{_QUALIFIER}){_EMPHASIS}{{0,6}}\s{{0,3}}"
        rf"(?P<op>{_LABEL_SIGN}|{_LABEL_WORD}){_EMPHASIS}{{0,6}}\s{{0,3}}{_EMPHASIS}{{0,6}}"
        rf"|\s{{0,3}}(?:(?P<sign>{_LABEL_SIGN}){_EMPHASIS}{{0,6}}\s{{0,3}}{_EMPHASIS}{{0,6}}"
        rf"|(?P<plain>{_LABEL_WORD})(?:{_EMPHASIS}{{1,6}}\s{{0,3}}{_EMPHASIS}{{0,6}}|\s{{0,3}}{_EMPHASIS}{{1,6}})))"
        r"""(?:`(?P<tick>[^`\n]+)`|"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<bare>[^\s"'`|<>][^\s"`|<>]+))""",
        "labelled",
    ),
    Rule(
        "passphrase",
        _gates("passphrase passcode passw"),
        r"(?i)(?P<key>passphrase|password|passcode)(?:['’]s)?[*_`]{0,4}(?:\s(?:for|to|of|on)\s[^\n:;!?=|\"'`]{1,40}?)?"
        r"[*_`]{0,4}(?P<op>\s(?:is|was|now|ist|to)(?:\snow)?:?\s|\s?[:=|]\s?)[*_`\"'“‘]{0,4}"
        rf"\s{{0,2}}[*_`\"'“‘]{{0,4}}(?P<value>{_WORD_CHAIN})",
        "worded",
    ),
    *(
        Rule(
            f"password-{side}",
            ("pwd", "passphrase", "passcode", "passw"),
            r"(?i)(?:\b(?:chang|rotat|updat|reset|set|switch)\w{0,4}\s[^\n:;!?|]{0,40}?"
            r"(?:password|passphrase|passcode|passwd|pwd)[^\n;!?|]{0,40}?"
            r"|(?:password|passphrase|passcode|passwd|pwd)\s(?:[a-z]{2,8}\s){0,3}(?:changed|rotated|updated"
            r"|reset|switched))"
            r"\sfrom\s" + values,
            "told",
        )
        for side, values in (
            ("before", r"[`\"'“‘]?(?P<value>[^\s`\"'“”‘’]{4,80})[`\"'”’]?\sto\s"),
            ("after", r"\S[^\n;|]{0,80}?\sto\s[`\"'“‘]?(?P<value>[^\s`\"'“”‘’]{4,80})"),
        )
    ),
    Rule(
        "spoken",
        _gates(
            "passw passphrase passcode pwd pw pass pin key token secret contrase clave chiave senha kennwort"
            " 密码 密碼 口令 授权码 密钥 秘钥 私钥 令牌 пароль パスワード パスフレーズ 비밀번호 " + _FOREIGN_GATES
        ),
        r"(?i)(?P<key>\b(?:password|passwd|passphrase|passcode|passwort|kennwort|pwd|pw|pass|pin(?: code)?|wi-?fi key"
        r"|(?:api|access|secret|private|license|signing|encryption|master|service|account) ?key"
        r"|(?:access |api |auth ?)?token|(?:client |aws |webhook )?secret"
        r"|contraseña|clave|chiave|mot de passe|senha|key)"
        rf"|{_FOREIGN}|密码|密碼|口令|授权码|密钥|秘钥|私钥|令牌|пароль|パスワード|パスフレーズ|비밀번호)"
        rf"(?P<has>['’]s(?:\sstill|\snow|\scurrently)?)?"
        rf"(?:(?P<gap>\s(?:{_PREPOSITIONS})\s(?:[^\n:;!?=\"']{{1,40}}?|[\w ]{{0,20}}'[^'\n]{{1,60}}'))?"
        r"(?P<op>\s{0,2}(?:\s(?:(?:was |is |has been |been )?(?:changed|set|reset|updated|rotated) to|to|is|was|now"
        r"|being|will be|ist|lautet|est|c['’]est|es|é|è|это)(?:\snow|\sstill|\scurrently|\sjetzt|\sora|\sahora)?"
        r"(?:\s?:|\s)|:\s|\s[—–]\s"
        r"|：|已?(?:改|换|換|设|設|更新|更改|变更|修改|重置|设置)?(?:是|为|為|成)|は|が|を|는|은|คือ|->|=>|→))|\s)"
        r"\s{0,3}(?P<quote>[\"'“‘`「*]{0,3})(?P<value>[^\s\"“”‘’`「」，。、；]{3,})",
        "spoken",
    ),
    Rule(
        "command-secret",
        (*_gates("identified requirepass masterauth setx env smbclient ::add-mask:: --secret-string"), "kv put"),
        r"(?i)(?:\bidentified\s{1,3}(?:with\s\S{1,40}\s)?by\s{1,3}['\"]|\b(?:requirepass|masterauth)\s{1,3}"
        r"|::add-mask::|--secret-string[ =]['\"]?|\bvault\s{1,3}kv\s{1,3}put\s[^\n|;=]{0,200}?\s[\w-]{1,40}=['\"]?"
        r"|\bsmbclient\b[^\n|;]{0,200}?\s-U\s{0,3}['\"]?[\w.\\/-]{1,60}%"
        r"|\b(?:setx|env)\s{1,3}\w{0,40}(?:password|passwd|secret|token|_key|pass)\s{1,3}['\"]?)"
        r"(?P<value>[^\s'\"]{3,})",
        "told",
    ),
    Rule(
        "login",
        (*_gates("creds credentials zugangsdaten identifiants login logins user account"), "log in"),
        r"(?i)\b(?:(?:creds|credentials|zugangsdaten|identifiants|log ?ins?)\b:?(?:\s(?:are|is|with|as"
        r"|for\s\w{1,20}:?))?"
        r"\s{1,3}[\w.@+-]{2,60}\s?[/:,]\s?"
        r"|(?:user(?:name)?|login|account|e-?mail)\b[:=]?\s{0,3}[\w.@+-]{2,60}\s{0,2}[,;/]?\s{0,2}(?:and\s"
        r"|with\s){0,2}"
        r"(?:password|passwd|passphrase|pass|pw|pwd)\b(?:\sis)?[:=]?\s{0,3})"
        r"(?P<value>[^\s'\"/]{6,80})",
        "told",
    ),
    Rule(
        "spoken-as",
        ("as the pass", "as my pass", "as pass", "as your pass", "as a pass"),
        r"(?i)\b(?:use|using|set|type|enter|try|with)\s[\"'“‘`]?(?P<value>[^\s\"“”‘’`]{4,80})[\"'”’`]?\sas\s"
        r"(?:the\s|my\s|your\s|a\s)?(?P<key>pass(?:word|phrase|code))",
        "spoken",
    ),
)

# Where secrets stand that neither their shape nor a key right before them gives away.
_NAME_OF_SECRET = r"[\w.-]{0,40}?(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key|pwd)"
_CONTEXTS = (
    Rule(
        "sealed-key",
        ("ls0tls1crudjti",),
        r"(?P<secret>LS0tLS1CRUdJTi(?:BSU0EgUFJJ|BQUklWQVRF|BFQyBQUklW|BPUEVOU1NIIFBS|BEU0EgUFJJ|BFTkNSWVBURUQg"
        r"|BQR1AgUFJJ)"
        r"[A-Za-z0-9+/]{20,}={0,2})",
        "varied",
    ),
    _token("paseto", "v1.local. v2.local. v3.local. v4.local.", r"v[1-4]\.local\.[\w-]{60,}(?:\.[\w-]+)?"),
    _token(
        "vendor-key",
        "bbdc- sec-c- hcaik_ hcbik_ os_v2_app_ kgat_",
        r"(?:BBDC-[\w+/=-]{40,}|sec-c-[\w+/=-]{40,}|hc[ab]ik_[A-Za-z0-9]{40,}|os_v2_app_[A-Za-z0-9]{40,}"
        r"|KGAT_[A-Za-z0-9]{30,})",
        "mixed",
    ),
    _token(
        "prefixed-key",
        "_live_ _sk_ _secret_ _pat_ _rw_ -secret- -live- _oat_ _priv_",
        r"[a-z][a-z0-9]{1,15}(?:_[a-z0-9]{2,8})?[_-](?:live|sk|secret|pat|rw|oat|priv)[_-][A-Za-z0-9]{24,}",
        "mixed",
    ),
    Rule("conda-token", ("conda.anaconda.org/t/",), r"conda\.anaconda\.org/t/(?P<secret>[\w-]{16,})", "varied"),
    Rule(
        "webhook-url",
        ("hook/", "hooks/", "webhook/"),
        r"://[^\s\"'<>]{3,120}?/(?:web)?hooks?/(?:[^\s\"'<>]{0,60}?[/=])?(?P<secret>[\w-]{20,})(?:[^\w/.-]|/?$"
        r"|/[^\w])",
        "unguessable",
    ),
    Rule(
        "node-url",
        _gates("infura.io/ alchemy.com/ quiknode.pro/ ankr.com/"),
        r"(?:infura\.io|alchemy\.com|quiknode\.pro|ankr\.com)/(?:v\d/|[a-z_]{2,20}/)?(?P<secret>[\w-]{30,})",
        "mixed",
    ),
    Rule(
        "keyed-account",
        ('"key', '"secret', '"token'),
        r"(?i)\"(?:user(?:name)?|account|client_?id|id)\"\s{0,3}:\s{0,3}\"[^\"\n]{1,80}\"\s{0,3},\s{0,3}\"(?:key"
        r"|secret|token)\""
        r"\s{0,3}:\s{0,3}\"(?P<secret>[\w+/=-]{16,})\"",
        "mixed",
    ),
    Rule(
        "payment-card",
        _gates("card visa amex credit cvv cvc 信用卡 银行卡 kredit carte tarjeta"),
        r"(?i)(?:card|visa|amex|credit|信用卡|银行卡|kredit|carte|tarjeta|pay)[^\n\d]{0,40}?"
        r"(?P<secret>(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6\d{3})(?:[ -]?\d{4}){3}|3[47]\d\d[ -]?\d{6}[ -]?\d{5})"
        r"(?:[^\w.-]|$|\.\s|\.$)",
        "card",
    ),
    Rule(
        "access-code",
        _gates("code combination puk"),
        r"(?i)(?:\b(?:door|gate|alarm|safe|lock|unlock|locker|garage|entry|sim)(?:['’]s)?\s(?:pass)?(?:code"
        r"|combination)|\bPUK)"
        r"(?:\s(?:is|was)(?:\snow)?\s|\s?[:=]\s?|\s)[\"'`*]{0,3}(?P<secret>\d{4,10}|\d{1,3}(?:-\d{1,3}){2,4})"
        r"(?:[^\w-]|$)",
    ),
    Rule(
        "app-password",
        ("app password", "app_password", "app-password"),
        r"(?i:app[ _-]password)[\"'*`]{0,3}(?:\s(?:is|was)(?:\snow)?\s|\s{0,2}[:=]\s{0,2}|\s)[\"'`*]{0,3}"
        r"(?P<secret>[a-z]{4}(?: [a-z]{4}){3})\b",
        "chain",
    ),
    Rule(
        "licence-key",
        _gates("licen product serial activation registration"),
        r"(?i:licen[cs]e|product|serial|activation|registration)(?:[ _-](?i:key|code|number|no\.?))?[\"'*`]{0,3}"
        r"(?:\sis\s|\s{0,2}[:=]\s{0,2}|\s)[\"'`*]{0,3}(?P<secret>[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,7})(?:[^\w-]|$)",
        "coded",
    ),
    Rule(
        "cookie-jar",
        ("true\t/", "false\t/"),
        r"\t(?:TRUE|FALSE)\t/[^\t\n]{0,80}\t(?:TRUE|FALSE)\t\d{1,12}\t(?P<key>[^\t\n]{1,60})\t"
        r"(?P<secret>[^\s;\"',]{8,})",
        "cookie",
    ),
    Rule(
        "form-part",
        ('name="',),
        rf"(?i)name=\"(?P<key>{_NAME_OF_SECRET})\"\r?\n(?:Content-[^\n]{{0,80}}\n)?\r?\n(?P<value>[^\s]{{4,200}})",
        "paired",
    ),
    Rule(
        "encoded-quotes",
        ("%22", "&quot;", "&#34;", "u0022"),
        rf"(?i)(?:%22|&quot;|&#34;|\\u0022)(?P<key>{_NAME_OF_SECRET})(?:%22|&quot;|&#34;|\\u0022)(?:%20"
        rf"|\s)?(?:%3A|:)(?:%20|\s)?"
        r"(?:%22|&quot;|&#34;|\\u0022)(?P<value>[\w.~!*+/=@#?-]{4,200})",
        "paired",
    ),
    Rule(
        "block-scalar",
        ("|\n", ">\n", "|-", ">-", "|+", ">+", "|\r", ">\r"),
        rf"(?i)(?:^|[^\w.-])(?P<key>{_NAME_OF_SECRET})[\"']?:[ \t]{{0,3}}[|>][+-]?[ \t]{{0,3}}\r?\n[ \t]{{1,16}}"
        rf"(?P<value>\S{{4,200}})[ \t]{{0,8}}(?:\r?\n|$)",
        "paired",
    ),
    Rule(
        "login-flags",
        (" -p", "/p:", "/rp", " -xp", " -ap"),
        r"\s[-/][arxARX]?[uUlL](?:ser)?[ =:]{0,2}[\"']?[\w.@\\-]{1,60}[\"']?\s(?:[^\n|;]{0,60}?\s)?"
        r"[-/][arxARX]?[pP][ =:]{0,2}[\"']?(?P<value>[^\s\"']{6,80})",
        "chosen",
    ),
    Rule(
        "tool-password",
        ("wpa_passphrase", "htpasswd", "openssl", "lftp", "insecure-password", "stats auth", "obscure "),
        r"(?:\bwpa_passphrase\s{1,3}(?:\"[^\"\n]{1,60}\"|\S{1,60})\s{1,3}"
        r"|\bhtpasswd\s{1,3}-[a-zA-Z]{0,6}n[a-zA-Z]{0,6}\s{1,3}\S{1,80}\s{1,3}"
        r"|\bhtpasswd\s{1,3}-[a-mo-zA-Z]{1,8}\s{1,3}\S{1,80}\s{1,3}\S{1,80}\s{1,3}"
        r"|\bopenssl\s{1,3}[\w-]{2,30}\s[^\n|;]{0,200}?-[kK]\s{1,3}|\brclone\s{1,3}obscure\s{1,3}"
        r"|\blftp\b[^\n|;]{0,200}?\s-u\s{0,2}[\"']?[^\s,\"']{1,60},|\binsecure-password\s{1,3}"
        r"|\bstats auth\s{1,3}[^\s:]{1,60}:)"
        r"[\"']?(?P<value>[^\s\"']{4,80})",
        "told",
    ),
    Rule(
        "target-login",
        ("@",),
        r"\b[A-Za-z][\w.-]{0,40}/[\w.-]{1,40}:[\"']?(?P<secret>[^\s@:/\"'<>`]{6,80})[\"']?@(?:\d{1,3}\."
        r"|[A-Za-z][\w-]{0,60}(?:\.|\s|$))",
        "embedded",
    ),
    Rule(
        "relay-login",
        (":587", ":465", ":25", ":2525", "smtp"),
        r"(?m)^\[?[\w.-]{3,80}\]?:(?:587|465|25|2525)[ \t]{1,8}[\w.@+-]{1,80}:(?P<value>\S{6,80})$",
        "told",
    ),
    Rule(
        "secrets-line",
        ('psk "', 'eap "', 'xauth "', '" *', "\t*", " *"),
        r"(?m):\s{0,3}(?:PSK|EAP|XAUTH)\s{1,3}\"(?P<double>[^\"\n]{4,80})\"|^\"?[\w.@-]{1,60}\"?[ \t]{1,8}(?:\*"
        r"|[\w.-]{1,40})[ \t]{1,8}"
        r"\"?(?P<secret>[^\s\"]{6,80})\"?[ \t]{1,8}\*[ \t]{0,3}$",
        "told",
    ),
    Rule(
        "service-login",
        ("identify ", "auth ", "setuser ", "user "),
        r"(?i:nickserv)\s:?(?i:identify)\s(?:\S{1,40}\s)?(?P<secret>[^\s\"']{6,80})(?:\s|$)|>\s(?i:auth)\s"
        r"(?:\S{1,40}\s)?(?P<single>[^\s\"']{6,80})(?:\s|$)"
        r"|\b(?i:setuser|user)\s\S{1,60}\s(?:on|off|reset|\s){1,4}>(?P<double>[^\s\"']{4,80})",
        "told",
    ),
    Rule(
        "secret-literal",
        ("--from-literal",),
        r"--from-literal[ =][\"']?[\w.-]{1,60}=[\"']?(?P<value>[^\s\"']{4,80})",
        "told",
        within=r"\bcreate\s{1,3}secret\s[^\n]{0,400}",
    ),
    Rule(
        "setting",
        _gates("password passwd passphrase secret rootpw bindpw -key key-string isakmp"),
        r"(?m)^[ \t]{0,12}(?:(?:enable|set|user(?:name)?[ \t]\S{1,40}|privilege[ \t]\d{1,2}|neighbor[ \t]\S{1,40}"
        r"|(?:tacacs|radius)-server|host[ \t]\S{1,60}|ppp[ \t]chap|ip[ \t]ftp)[ \t]{1,4}){0,4}"
        r"(?:password|passwd|passphrase|secret|rootpw|bindpw|pre-shared-key|key-string|crypto isakmp key)"
        r"[ \t]{1,8}(?:\d{1,2}[ \t]{1,4})?[\"']?(?P<value>[^\s\"']{6,80})[\"']?[ \t]{0,4}(?:address[ \t]|\r?$)",
        "chosen",
    ),
    Rule(
        "dialogue-login",
        ("pass ", "login "),
        r"(?m)^(?:C:|[-=]{0,4}>)[ ]{0,2}PASS[ ](?P<value>\S{6,80})\s{0,3}$"
        r"|^(?:C:[ ]{0,2})?[A-Za-z]{0,3}\d{1,6}[ ]LOGIN[ ]\S{1,80}[ ]\"?(?P<secret>[^\s\"]{6,80})\"?\s{0,3}$",
        "chosen",
    ),
    Rule(
        "password-list",
        ("chpasswd:",),
        r"(?m)^\s{1,12}(?:- )?[\w-]{1,40}:(?P<secret>[^\s\"'|]{4,80})$",
        "told",
        within=r"chpasswd:\s[^;{}]{0,300}",
    ),
    Rule(
        "positional-password",
        _gates(
            "connect( connection( auth( authentication( begin( client( hmac( hmac.new( sign( encode( verify( sslauth("
        ),
        r",\s{0,3}(?:\w{1,12}\(\s{0,2})?[bNruU@]{0,2}[\"'](?P<secret>[^\"'\s]{8,120})[\"']",
        "argument",
        within=r"(?i)(?:connect|connection|auth|authentication|begin|client|hmac|hmac\.new|jwt\.(?:sign|encode"
        r"|verify))\([^;\n]{2,240}",
    ),
    Rule(
        "key-argument",
        _gates("hmac.new( fernet( aes.new( secretkeyspec("),
        r"(?i:hmac\.new|fernet|aes\.new|secretkeyspec)\(\s{0,2}b?[\"'](?P<secret>[^\"'\s]{16,120})[\"']",
        "argument",
    ),
    Rule(
        "table-column",
        _gates("passw passphrase pwd passwort kennwort contrase senha 密码 пароль"),
        r"\|[ \t]{0,8}[`*_]{0,3}(?P<secret>[^\s|`]{5,79}[^\s|`*_])[`*_]{0,3}[ \t]{0,8}",
        "chosen",
        within=r"(?i)\|[ \t*_`]{0,6}(?:\w{1,20} )?(?:passw(?:or)?d|passphrase|pwd|passwort|kennwort|contraseña"
        r"|senha|密码|пароль)[ \t*_`]{0,6}\|[^\n]{0,200}\n"
        r"[ \t]{0,4}\|[ \t:|-]{3,200}\n(?:[ \t]{0,4}\|[^\n]*\n?){1,60}",
    ),
    Rule(
        "told-before",
        ("password", "passphrase", "passcode"),
        r"(?i)(?:^|[\s\"'“‘`(])(?P<secret>[^\s\"'“”‘’`(]{6,80})[\"'”’`]?\s(?:is|was)\s(?:now\s)?(?:the|my|our"
        r"|your|his|her|their)\s(?:[\w-]{1,20}\s){0,2}?"
        r"(?:password|passphrase|passcode)\b",
        "told",
    ),
    Rule(
        "told-aside",
        ("the password)", "my password)", "your password)"),
        r"(?i)(?:^|[\s\"'“‘`])(?P<secret>[^\s\"'“”‘’`(]{6,80})[\"'”’`]?\s\((?:this is |that's |it is )?(?:the|my"
        r"|your)\s(?:[\w-]{1,20}\s)?password\)",
        "told",
    ),
    Rule(
        "key-below",
        ("key", "token", "secret"),
        r"(?i)(?P<key>(?:api[ _-]?key|access[ _-]?key|secret(?: key)?|token"
        r"|key))[ \t*_]{0,4}[:：]?[ \t*_]{0,4}\r?\n\s{0,8}(?:```[a-z]{0,10}\r?\n[ \t]{0,8})?"
        r"`?(?P<secret>[\w+/=.-]{20,200})`?[ \t]{0,8}(?:\r?\n|$)",
        "below",
    ),
    Rule(
        "password-below",
        _gates("password passphrase passwort 密码"),
        r"(?i)\b(?:password|passphrase|passwort)[ \t*_`]{0,4}[:：]?[ \t*_`]{0,4}\r?\n\s{0,8}[`*_]{0,3}"
        r"(?P<secret>[^\s`]{6,80}?)[`*_]{0,3}[ \t]{0,8}(?:\r?\n|$)",
        "told",
    ),
)

# The most telling kind first: where two rules find the same place, its name is used.
RULES: tuple[Rule, ...] = (*_TOKENS, *_SHAPES, *_CONTEXTS)
