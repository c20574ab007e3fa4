from __future__ import annotations

from tests.cases import each_case

from picomem.recall.answer_kinds import lacks_kind

KITCHEN = "The kitchen was painted sage green in spring."


@each_case(
    ("question", "statement"),
    [
        ("who painted the kitchen?", KITCHEN),
        ("what did painting the kitchen cost?", KITCHEN),
        ("how many replicas does billing have?", "Billing uses PostgreSQL."),
        ("why was GraphQL rejected?", "GraphQL was rejected."),
        ("why does billing use PostgreSQL?", "Billing uses PostgreSQL as its database."),
        ("when was GraphQL rejected?", "GraphQL was rejected."),
        ("where is the wifi password?", "The wifi password is long."),
        ("where is the Redis cache?", "The Redis cache is warm."),
        ("周会有多少人参加？", "周会很长。"),
        ("when was the kitchen painted?", "The kitchen was painted by two people."),
        ("when does the choir meet?", "The choir meets at seven tables."),
    ],
)
def test_a_statement_without_what_is_asked_for_lacks_it(question: str, statement: str) -> None:
    assert lacks_kind(question, statement)


@each_case(
    ("question", "statement"),
    [
        ("when was the kitchen painted?", KITCHEN),
        ("what colour is the kitchen?", KITCHEN),
        ("who owns payments?", "Marta Kowalczyk owns the payment service."),
        ("who translates?", "The translation is done by an agency."),
        ("how long are backups kept?", "Backups are kept for 35 days."),
        ("how often does it run?", "The job runs nightly."),
        ("why kafka?", "We chose Kafka because we need replay."),
        ("where do secrets live?", "Secrets are kept in Vault."),
        ("where are our secrets?", "Secrets: HashiCorp Vault"),
        ("where is the search index?", "The search index is Elasticsearch 8"),
        ("where are the uploaded images?", "Uploaded images: the bucket acme-img"),
        ("会话缓存在哪里？", "我们决定用 Redis 做会话缓存"),
        ("when does the ferry leave?", "The ferry leaves at nine"),
        ("when does the library close?", "The library closes at half past five on weekdays."),
        ("why did we drop the queue?", "We dropped the queue; jobs were gone after each restart."),
        ("why was the boiler replaced?", "The boiler was replaced, it leaked."),
        ("why tokio?", "Went with tokio over async-std: simpler."),
        ("what time zone do the logs have?", "The logs are in UTC."),
        ("支付模块是谁负责的？", "支付模块由李娜负责。"),
        ("备份保留多久？", "备份保留三十五天。"),
    ],
)
def test_a_statement_with_it_does_not(question: str, statement: str) -> None:
    assert not lacks_kind(question, statement)
