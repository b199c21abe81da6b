"""The threats to a service that strangers use, what is promised against each, and the tests that show it.

`python -m tests.web.threats` writes the table of docs/service.md anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "service.md"
_HEAD = "| | threat | what is promised | tests that show it |\n| ---: | --- | --- | --- |\n"
_TABLE = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")
_ATTACKS, _DOORS = "tests/web/test_attacks.py", "tests/web/test_doors.py"
_LEDGER, _CATALOG, _JOBS = "tests/curator/ledger", "tests/curator/catalog", "tests/curator/jobs/test_jobs.py"


@dataclass(frozen=True)
class Threat:
    """One way to harm a service, or whoever is in its tables."""

    number: int
    name: str
    promise: str
    tests: tuple[str, ...]
    """Each as "path::name"."""

    @property
    def line(self) -> str:
        """Its line of the documentation's table."""
        names = ", ".join(f"`{each.partition('::')[2]}`" for each in self.tests)
        return f"| {self.number} | {self.name} | {self.promise} | {names} |\n"


THREATS = (
    Threat(
        1,
        "no name, or a forged one",
        "Every address says who may pass, and lets nobody else in; public pages, signing in and the health check need no name.",
        (
            f"{_DOORS}::test_nobody_passes_without_a_name",
            f"{_DOORS}::test_nobody_passes_with_another_role",
            f"{_DOORS}::test_the_application_has_no_other_addresses",
        ),
    ),
    Threat(
        2,
        "racing for the last of a budget",
        "All caps that a question counts against are checked and charged in one transaction, over all threads and processes.",
        (
            f"{_ATTACKS}::test_racing_questions_never_spend_more_than_there_is",
            f"{_LEDGER}/test_interleavings.py::test_16_analysts_in_2_processes_race_for_the_last_epsilon",
            f"{_LEDGER}/test_interleavings.py::test_16_analysts_in_4_processes_race_for_the_last_epsilon_of_four_nested_caps",
            f"{_LEDGER}/test_faults.py::test_30_kills_lose_no_acknowledged_debit",
            f"{_LEDGER}/test_faults.py::test_8_kills_lose_no_acknowledged_debit_in_postgres",
        ),
    ),
    Threat(
        3,
        "a request that is sent twice",
        "A form and a named request are paid for once, however often they arrive.",
        (
            f"{_ATTACKS}::test_a_repeated_request_is_paid_for_once",
            "tests/web/test_replays.py::test_a_request_whose_reply_is_dropped_is_paid_for_once",
            "tests/web/test_replays.py::test_a_named_request_that_fails_is_paid_for_once_also_at_the_same_moment",
            "tests/web/test_replays.py::test_looking_at_an_answer_again_is_free",
            "tests/web/test_questions.py::test_a_form_that_is_sent_twice_pays_once_and_leads_to_its_answer",
        ),
    ),
    Threat(
        4,
        "the same question at the same moment",
        "Whoever asks the same waits for the first one's answer: there is one debit and one value.",
        (
            f"{_ATTACKS}::test_identical_questions_at_one_moment_are_one_debit_and_one_value",
            f"{_CATALOG}/test_service_desk.py::test_1000_who_ask_the_same_at_once_pay_once_and_hear_the_same",
        ),
    ),
    Threat(
        5,
        "learning from the archive who asked what",
        "Answers are shared as the policy says, and name nobody; in an archive of one's own nobody else sees a trace.",
        (
            f"{_ATTACKS}::test_an_archive_of_ones_own_shows_nobody_elses_questions",
            f"{_CATALOG}/test_service_desk.py::test_the_archive_is_shared_as_the_owner_says",
        ),
    ),
    Threat(
        6,
        "questions that follow from others' answers",
        "The total holds for any interleaving of any analysts' questions, and is that of asking them one by one.",
        (f"{_LEDGER}/test_interleavings.py::test_any_interleaving_is_a_serial_replay",),
    ),
    Threat(
        7,
        "analysts who join forces",
        "The cap of the data set holds for all together, and its owner sees by how much their caps exceed it.",
        (
            f"{_LEDGER}/test_interleavings.py::test_16_threads_race_for_the_last_epsilon_of_four_nested_caps",
            f"{_LEDGER}/test_caps.py::test_a_debit_is_charged_to_data_set_population_group_and_analyst",
            "tests/web/test_owner.py::test_caps_are_added_up_against_the_budget",
        ),
    ),
    Threat(
        8,
        "the same people under another name",
        "A table that is known has one budget by whatever name, and tables of one population share one.",
        (
            f"{_CATALOG}/test_catalog.py::test_a_known_table_has_one_budget_by_whatever_name",
            f"{_CATALOG}/test_catalog.py::test_tables_of_one_population_share_its_budget",
        ),
    ),
    Threat(
        9,
        "new rows, and with them a new budget",
        "New rows are a new edition of the same budget; more budget is an entry with who and why, which everybody sees.",
        (
            f"{_CATALOG}/test_catalog.py::test_new_rows_are_a_new_edition_of_the_same_budget",
            f"{_CATALOG}/test_recall.py::test_another_edition_has_no_answers_yet",
            "tests/web/test_public.py::test_a_data_set_shows_what_was_spent_and_every_change_with_who_and_why",
        ),
    ),
    Threat(
        10,
        "the time that an answer takes",
        "Replies leave at a time that follows from the question and declared numbers alone; what is late is a paid refusal.",
        (
            f"{_CATALOG}/test_timing.py::test_a_time_that_tells_is_noticed",
            f"{_JOBS}::test_reply_times_come_from_public_numbers_and_fall_into_few_classes",
        ),
    ),
    Threat(
        11,
        "errors that tell of rows",
        "What is refused before the debit follows from public things; after it every fault gives one and the same reply.",
        (
            f"{_ATTACKS}::test_whatever_goes_wrong_after_the_debit_has_one_form",
            f"{_CATALOG}/test_service_desk.py::test_every_fault_of_a_store_gives_the_same_reply",
        ),
    ),
    Threat(
        12,
        "others' work that slows mine",
        "Paid work is done in slots of each analyst; archive answers, prices and stored plans never wait for it.",
        (
            f"{_ATTACKS}::test_answers_from_the_archive_and_pages_do_not_wait_for_paid_work",
            f"{_JOBS}::test_an_analyst_waits_for_her_own_slots_and_for_nobody_elses",
        ),
    ),
    Threat(
        13,
        "code or SQL in a condition",
        "Conditions are a language of their own, with listed functions and no attributes; they are never run as Python or SQL.",
        (
            f"{_ATTACKS}::test_conditions_are_a_language_of_their_own",
            "tests/engines/expressions/test_properties.py::test_any_text_is_an_expression_or_one_of_our_complaints",
        ),
    ),
    Threat(
        14,
        "names that are no statistics",
        "Only names of the registry can be asked for; no attribute of a session is reachable by its name.",
        (
            f"{_ATTACKS}::test_only_statistics_can_be_named",
            f"{_CATALOG}/test_service_desk.py::test_no_name_of_a_session_can_be_asked_but_statistics",
        ),
    ),
    Threat(
        15,
        "registering files and hosts that are none of one's business",
        "Tables come from listed folders, hosts and buckets; no link leads out, and a refusal does not say what there is.",
        (
            f"{_CATALOG}/test_places.py::test_everything_else_is_refused",
            f"{_CATALOG}/test_places.py::test_other_databases_are_refused_and_passwords_are_not_repeated",
            "tests/web/test_registration.py::test_no_other_place_can_be_registered",
        ),
    ),
    Threat(
        16,
        "a file without a header, whose first person becomes names of columns",
        "A table is a draft that its owner alone sees until its names and types are confirmed.",
        (
            "tests/web/test_registration.py::test_a_file_without_a_header_stays_a_draft_that_nobody_sees",
            f"{_CATALOG}/test_catalog.py::test_a_file_without_a_header_is_seen_by_its_owner_alone",
        ),
    ),
    Threat(
        17,
        "other sites that act in one's name",
        "Writes come from pages of the service; signing in gives a new secret; no page can be framed; no GET changes anything.",
        (
            "tests/web/test_entrance.py::test_other_sites_cannot_post",
            "tests/web/test_entrance.py::test_whoever_signs_in_gets_a_new_cookie_and_their_own_pages",
            f"{_DOORS}::test_what_changes_something_is_no_get",
            "tests/web/browser/test_entrance.py::test_a_form_of_another_site_changes_nothing",
            "tests/web/browser/test_entrance.py::test_a_form_of_another_port_changes_nothing_although_the_cookie_comes_along",
        ),
    ),
    Threat(
        18,
        "scripts in names, labels and titles",
        "Whatever stands on a page is escaped, and browsers are told to run no script but the service's own file.",
        (
            "tests/web/browser/test_hostile_names.py::test_names_that_are_markup_stay_words",
            "tests/web/test_history.py::test_names_from_outside_are_text_on_every_page",
            "tests/web/test_registration.py::test_names_of_columns_are_escaped_and_never_in_an_address",
            f"{_DOORS}::test_every_reply_has_the_headers_of_the_guards",
        ),
    ),
    Threat(
        19,
        "work that is too large",
        "Questions, plans, bodies and groups have ceilings that hold before any work; passwords are checked two at a time, in "
        "threads of their own, and after wrong ones one has to wait.",
        (
            f"{_ATTACKS}::test_what_would_take_too_much_is_refused_before_it_is_paid_for",
            f"{_CATALOG}/test_plans.py::test_what_cannot_be_planned_is_refused_in_words",
            f"{_DOORS}::test_what_cannot_be_read_is_refused",
            f"{_ATTACKS}::test_passwords_that_are_checked_keep_nobody_else_waiting",
            "tests/web/test_entrance.py::test_after_some_wrong_passwords_everybody_waits",
        ),
    ),
    Threat(
        20,
        "work that does not end",
        "Paid work is done by processes that are killed where they do not end; the debit stays.",
        (
            f"{_JOBS}::test_who_is_late_is_waited_for_and_killed_where_that_is_in_vain",
            f"{_JOBS}::test_a_worker_that_dies_is_one_failure_and_replaced_by_one_that_has_opened_the_same_tables",
        ),
    ),
    Threat(
        21,
        "an old copy of the ledger",
        "A ledger below the highest entry that its witness has seen is not opened; receipts and public heads show what is gone.",
        (
            "tests/cli/test_serve.py::test_a_ledger_that_was_cut_is_not_served",
            f"{_LEDGER}/test_copies.py::test_a_live_session_and_a_new_one_refuse_an_older_history",
            f"{_LEDGER}/test_signatures.py::test_a_release_has_a_receipt_that_shows_what_was_removed",
            "tests/web/test_releases.py::test_signed_heads_are_public_and_a_release_names_the_one_that_signs_it",
        ),
    ),
    Threat(
        22,
        "an owner who rewrites the record",
        "Entries are chained: auditors download all of them, recompute the totals at home, and compare with analysts' receipts.",
        (
            "tests/web/test_audit.py::test_an_altered_entry_is_found_and_a_cut_ledger_does_not_know_its_receipts",
            f"{_LEDGER}/test_verification.py::test_every_changed_field_of_every_entry_is_noticed",
            f"{_LEDGER}/test_verification.py::test_a_removed_entry_is_noticed_and_the_last_one_by_whoever_remembers_the_head",
            f"{_LEDGER}/test_signatures.py::test_what_is_written_anew_without_the_key_is_noticed",
        ),
    ),
    Threat(
        23,
        "secrets in logs, addresses and errors",
        "Logs have listed fields and nothing else; no address of a database is shown with its password.",
        (
            f"{_ATTACKS}::test_logs_have_listed_fields_and_no_secrets",
            "tests/web/test_secrets.py::test_planted_words_are_nowhere",
            f"{_LEDGER}/test_refusals.py::test_a_url_is_shown_without_user_password_and_options",
            "tests/web/test_people.py::test_names_are_escaped_and_no_digest_is_shown",
        ),
    ),
    Threat(
        24,
        "analysts' own functions",
        "A question is a document of plain values: no field takes code.",
        (f"{_ATTACKS}::test_functions_and_seeds_are_no_part_of_a_question",),
    ),
    Threat(
        25,
        "stolen tokens, and rights that were taken back",
        "Tokens have a scope and an end, make no tokens, and are revoked at once: also what is worked on is not handed out.",
        (
            f"{_ATTACKS}::test_a_revoked_token_and_other_roles_hold_from_the_next_request_on",
            f"{_ATTACKS}::test_what_is_worked_on_is_not_handed_to_a_token_that_was_revoked_meanwhile",
            f"{_ATTACKS}::test_a_grant_that_is_taken_back_meanwhile_keeps_the_answer_back",
            "tests/web/test_analyst.py::test_a_token_is_shown_once_and_no_token_makes_tokens",
        ),
    ),
    Threat(
        26,
        "noise that somebody can predict",
        "The service draws from the operating system alone; seeded answers are never archived, and so never published.",
        (
            f"{_ATTACKS}::test_functions_and_seeds_are_no_part_of_a_question",
            "tests/curator/test_session.py::test_seeded_answers_are_charged_and_never_archived",
        ),
    ),
    Threat(
        27,
        "processes that share randomness or connections",
        "Workers are programs started anew; every draw is one of the operating system, and forked children share nothing.",
        (
            f"{_ATTACKS}::test_no_process_of_the_service_is_forked",
            f"{_ATTACKS}::test_two_processes_draw_nothing_twice",
            "tests/foundations/test_randomness.py::test_forked_children_share_nothing",
            f"{_LEDGER}/test_faults.py::test_children_forked_while_threads_write_have_their_own_connection",
        ),
    ),
)


def threat_table() -> str:
    """All threats as the documentation has them."""
    return _HEAD + "".join(each.line for each in THREATS)


def with_table(page: str) -> str:
    """A page with the table as it is now."""
    return _TABLE.sub(lambda _: threat_table(), page)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
