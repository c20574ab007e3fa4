"""Statements to be told twice: each as it was said first, in a light rewording and in other words; and pairs that look
alike and are not the same. Written for this project, after the rules that they measure; none of those was changed for
one of these lines.
"""

from __future__ import annotations

from typing import NamedTuple


class Told(NamedTuple):
    """`reworded` has the same words in another form or order, or fewer; `paraphrased` has others."""

    text: str
    reworded: str
    paraphrased: str


TOLD = (
    Told(
        "The invoicing service talks to SAP over port 8443.",
        "Invoicing service: talking to SAP over port 8443",
        "SAP is reached from invoicing on 8443.",
    ),
    Told(
        "Marta signs off on every schema change.",
        "Every schema change is signed off by Marta.",
        "No database structure is altered without Marta's approval.",
    ),
    Told(
        "The nightly backup is stored in the Frankfurt bucket.",
        "Nightly backups are stored in the bucket in Frankfurt.",
        "Each night a copy of the data goes to our bucket in Frankfurt.",
    ),
    Told(
        "Omar prefers reviews before noon.",
        "Omar prefers a review before noon",
        "Omar likes his code looked at in the morning.",
    ),
    Told(
        "We chose PostgreSQL over MongoDB because reports need joins.",
        "PostgreSQL was chosen over MongoDB, because the reports need joins.",
        "Since reporting wants joins, the decision fell on PostgreSQL and not on MongoDB.",
    ),
    Told(
        "The mobile app must work offline for two days.",
        "Mobile app: must be working offline for two days",
        "Without a network the phone client has to run for 48 hours.",
    ),
    Told(
        "Customers in Norway are billed in euros.",
        "Norway's customers are billed in euros",
        "Norwegian clients get their invoices in EUR.",
    ),
    Told(
        "The search index is rebuilt on Sundays at four.",
        "Search index rebuilt on Sundays, at four",
        "Every Sunday, 4 o'clock, the index for searching is made anew.",
    ),
    Told(
        "Elena owns the release checklist.",
        "The release checklist is owned by Elena",
        "Whoever has questions on the list for releases asks Elena, it is hers.",
    ),
    Told(
        "Feature flags live in the settings repository.",
        "The feature flags are living in the settings repository.",
        "Toggles are kept in the repo called settings.",
    ),
    Told(
        "The staging cluster has three nodes with 16 GB each.",
        "Staging cluster: three nodes, each with 16 GB",
        "There are 3 machines of 16 gigabytes in staging.",
    ),
    Told(
        "Log lines are kept for thirty days.",
        "We keep log lines for thirty days",
        "Logs are deleted after a month.",
    ),
    Told(
        "用户对花生过敏，点餐时要提醒。",
        "点餐时要提醒：用户对花生过敏",
        "订饭的时候注意，这位不能吃花生。",
    ),
    Told(
        "生产数据库部署在法兰克福机房。",
        "生产数据库是部署在法兰克福的机房",
        "线上库放在德国法兰克福。",
    ),
    Told(
        "The payment webhook retries five times with growing pauses.",
        "Payment webhook: it retries five times, with pauses that grow",
        "If paying is not confirmed, the callback is tried up to 5 times, each later than the last.",
    ),
    Told(
        "Ana triages blocked tickets on Mondays.",
        "On Mondays, Ana triages the blocked tickets",
        "Tickets that are stuck are looked through by Ana at the start of the week.",
    ),
    Told(
        "The design team works in Figma and exports SVG.",
        "Design team: working in Figma, exporting SVG",
        "Designers draw with Figma and hand over vector files.",
    ),
    Told(
        "API errors are returned as application/problem+json.",
        "An API error is returned as application/problem+json",
        "When a call fails, the body is problem+json.",
    ),
    Told(
        "The billing tables must never be changed without asking Tom.",
        "Never change the billing tables without asking Tom",
        "Tom has to agree before anybody touches billing's tables.",
    ),
    Told(
        "Kafka keeps events for seven days.",
        "Events are kept by Kafka for seven days",
        "After a week, events drop out of Kafka.",
    ),
)

# Each second line says something else than the first: to merge it away would lose it.
DIFFERENT = (
    ("The staging database listens on port 5433.", "The production database listens on port 5433."),
    ("The staging database listens on port 5433.", "The staging database listens on port 5434."),
    ("Marta signs off on every schema change.", "Martin signs off on every schema change."),
    ("Deploys go out on Tuesdays.", "Deploys go out on Tuesdays and Thursdays."),
    ("Use tabs for indentation in Go files.", "Do not use tabs for indentation in Go files."),
    ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
    ("Backups are kept for thirty days.", "Backups are encrypted with the team's key."),
    ("The venue opens at nine.", "The venue closes at nine."),
    ("Customers in Norway are billed in euros.", "Customers in Norway are billed in kroner."),
    ("Elena owns the release checklist.", "Elena wrote the release checklist with Omar."),
    ("The mobile app must work offline for two days.", "The desktop app must work offline for two days."),
    ("Kafka keeps events for seven days.", "Kafka keeps events for seven hours."),
    ("生产数据库部署在法兰克福机房。", "测试数据库部署在法兰克福机房。"),
    ("提交说明用中文。", "提交说明不要用中文。"),
    ("The crane lifts 40 tons.", "The crane lifts 40 tons only in calm weather."),
    ("The service is written in Rust.", "The service was rewritten from Rust to Go in May."),
)
