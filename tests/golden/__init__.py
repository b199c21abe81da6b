"""Golden files: what the code said when they were written, and must say after every move.

    make golden                 writes them again, and refuses where numbers changed and no version rose
    make golden ARGS=--words    also takes reviewed words of cards and printed lines
    make golden ARGS=--order    also takes numbers of groups whose draws came in another order

`releases.jsonl` has seeded releases of every statistic by every method under both relations, also in sessions and in groups;
`cards.txt` their printed lines and cards; `questions.jsonl` documents with what the ledger writes for them: prices, archive keys
and details; `schema.json` the schema of documents; `ledger.jsonl` the entries of a ledger whose answers must still be found.
"""
