"""Which tools fail, and which models leave calls unanswered: DuckDB over Parquet.

    pip install '.[arrow]' duckdb
    python examples/ray_check.py LOGS OUT
    python examples/tool_errors.py OUT

Calls and results were paired by `molo.history.pair`. A join on ids in SQL would pair wrongly, since
ids restart every turn in the wild. Calls of an answer at the end of a line are still open. OpenAI's
forms do not say that a result is an error, so logs of theirs show no failures.
"""

import sys

import duckdb

QUERIES = {
    "Tools by the share of their calls that failed": """
        SELECT name AS tool,
               count(*) AS calls,
               count(*) FILTER (is_error) AS failed,
               round(avg(is_error::INT), 3) AS share
        FROM calls
        GROUP BY tool
        ORDER BY share DESC NULLS LAST, tool
    """,
    "Models by the calls that nothing answered": """
        SELECT coalesce(rest ->> '$.model', 'unknown') AS model,
               count(*) AS calls,
               count(*) FILTER (result_at IS NULL AND NOT still_open) AS dangling
        FROM (
            SELECT calls.*, rest, (
                calls.at = len(messages) - 1 AND coalesce(origin ->> '$.reply', '') <> ''
            ) AS still_open
            FROM calls JOIN conversations USING (path, line)
        )
        GROUP BY model
        ORDER BY dangling DESC, model
    """,
    "Problems that a vendor would refuse": """
        SELECT problem.code AS problem,
               count(*) AS found,
               count(DISTINCT (path, line)) AS conversations
        FROM (SELECT path, line, unnest(problems) AS problem FROM conversations)
        GROUP BY ALL
        ORDER BY found DESC, problem
    """,
    "Lines that could not be read": """
        SELECT fault.code AS fault, fault.reason AS reason, count(*) AS lines
        FROM conversations
        WHERE fault IS NOT NULL
        GROUP BY ALL
        ORDER BY lines DESC, reason
    """,
}


def main(tables: str) -> None:
    """Print an answer to every query."""
    database = opened(tables)
    for title, query in QUERIES.items():
        print(title)
        print(database.sql(query))


def opened(tables: str) -> duckdb.DuckDBPyConnection:
    """Make views of the Parquet files, which are read where they are."""
    database = duckdb.connect()
    for name in ("conversations", "calls"):
        files = f"{tables}/{name}/*.parquet".replace("'", "''")
        database.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{files}')")
    return database


if __name__ == "__main__":
    main(*sys.argv[1:])
