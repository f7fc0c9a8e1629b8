"""The rows behind the golden questions: made up, small, and within every declared bound.

Sixty patients have 1 to 3 visits, 0 to 2 prescriptions and 0 to 2 sales of 1 to 2 lines each, so that nobody
exceeds `max_rows` in any join that the questions make. Numbers are multiples of 1/4 within their ranges, keys are
declared ones. Then weights are 1, clamping changes nothing, and exact answers are those of plain SQL.
"""

from __future__ import annotations

import datetime

import pyarrow as pa

PEOPLE = 60
_DAYS = (datetime.date(2026, 1, 1), datetime.date(2026, 1, 2))
_NEW_YEAR = datetime.date(2025, 1, 1)
_MIDNIGHT = datetime.datetime(2025, 1, 1)  # noqa: DTZ001 - the columns have no time zone


def _after(days: int) -> datetime.date:
    return _NEW_YEAR + datetime.timedelta(days=days)


def _visit(person: int, number: int) -> dict[str, object]:
    turn = 3 * person + number
    return {
        "patient_id": person,
        "age": None if turn % 17 == 0 else turn * 7 % 95,
        "cost": None if turn % 23 == 0 else turn * 37 % 900 + turn % 4 / 4,
        "weight": None if turn % 11 == 0 else 2 + turn % 90 / 2,
        "level": 1 + turn * 5 // 3 % 3,
        "ward": ("A", "B", "A", "it's", None, "B", "A")[turn % 7],
        "note": ("rest", "7", "A", None, "x-ray", "2")[turn * 5 % 6],
        "paid": turn % 3 != 1,
        "day": _DAYS[turn // 2 % 2],
        "at": _MIDNIGHT + datetime.timedelta(days=365, minutes=37 * turn),
    }


def visits() -> pa.Table:
    """Return 1 to 3 visits for each patient, and two that nobody owns."""
    rows = [_visit(person, number) for person in range(PEOPLE) for number in range(1 + person % 3)]
    stray = [_visit(7, 0) | {"patient_id": None}, _visit(8, 1) | {"patient_id": None}]
    return pa.Table.from_pylist(rows + stray)


def people() -> pa.Table:
    """Return one row for each person."""
    return pa.Table.from_pylist([_visit(person, person % 2) for person in range(PEOPLE)])


def orders() -> pa.Table:
    """Return one or two orders for each of 30 clients."""
    rows = [
        {
            "client": f"c{client}",
            "item": ("pen", "ink")[(client + number) % 2],
            "price": (client * 13 + number) % 99 + client % 4 / 4,
            "pieces": 1 + (client + number) // 3 % 2,
            "sent": datetime.date(2025, 12, 20) + datetime.timedelta(days=client),
            "gift": None if client % 9 == 0 else (client + number) % 3 == 0,
            "order total": (client * 7 + number) % 100 - 50.0,
        }
        for client in range(30)
        for number in range(1 + client % 2)
    ]
    return pa.Table.from_pylist(rows)


def patients() -> pa.Table:
    """Return 64 patients, of whom four never came."""
    rows = [
        {
            "patient_id": person,
            "sex": None if person % 13 == 5 else "fm"[person % 2],
            "born": datetime.date(1930, 1, 1) + datetime.timedelta(days=person * 521 % 32_000),
            "city": ("Agra", "Delhi", "Agra", "Jaipur", "Agra", "Delhi")[person % 6],
            "height": 140 + person * 11 % 60 + person % 2 / 2,
        }
        for person in range(PEOPLE + 4)
    ]
    return pa.Table.from_pylist(rows)


def prescriptions() -> pa.Table:
    """Return 0 to 2 prescriptions for each patient: two only to those who came at most twice."""
    rows = [
        {
            "patient_id": person,
            "drug": ("aspirin", "codeine", "aspirin", "insulin")[(person + number) % 4],
            "dose": None if person % 19 == 3 else (person * 3 + number) % 80 + 0.25,
            "pieces": (person + 4 * number) % 31,
            "given": _after((person * 29 + number * 7) % 365),
            "taken": _MIDNIGHT + datetime.timedelta(minutes=(person * 7919 + number) % 525_000),
        }
        for person in range(PEOPLE)
        for number in range(1 if person % 3 == 2 else person % 4 % 3)
    ]
    return pa.Table.from_pylist(rows)


def sales() -> pa.Table:
    """Return 0 to 2 sales for each customer, each under a number of its own."""
    rows = [
        {
            "sale_id": 10 * person + number,
            "customer": person,
            "shop": ("north", "south", "north")[(person + number) % 3],
            "sold": _after((person * 31 + number) % 365),
        }
        for person in range(40)
        for number in range(person % 3)
    ]
    return pa.Table.from_pylist(rows)


def lines() -> pa.Table:
    """Return one or two lines for each sale, and one of a sale that nobody made."""
    rows = [
        {
            "line_id": 100 * sale + number,
            "sale_id": sale,
            "drug": ("aspirin", "codeine", "insulin")[(sale + number) % 3],
            "amount": sale * 7 % 400 + 0.5,
            "quantity": 1 + (sale + number) % 9,
        }
        for sale in [row["sale_id"] for row in sales().to_pylist()] + [999_999]
        for number in range(1 + sale % 2)
    ]
    return pa.Table.from_pylist(rows)


def refunds() -> pa.Table:
    """Return refunds of every third line."""
    rows = [{"line_id": row["line_id"], "refund": row["amount"] / 2} for row in lines().to_pylist()[::3] if row]
    return pa.Table.from_pylist(rows)


def surveys() -> pa.Table:
    """Return one answer for each of 60 people: 40 say yes, 15 no, 5 perhaps."""
    rows = [
        {
            "person": person,
            "answer": "yes" if person < 40 else "no" if person < 55 else "perhaps",
            "score": person * 3 % 11,
        }
        for person in range(PEOPLE)
    ]
    return pa.Table.from_pylist(rows)


def wards() -> pa.Table:
    """Return the wards and where they are."""
    return pa.table({"ward": ["A", "B", "it's", "D"], "floor": [1, 2, 2, 3], "beds": [30, 12, 8, 20]})


def drugs() -> pa.Table:
    """Return two of the three drugs, one of them with two makers."""
    return pa.table(
        {
            "drug": ["aspirin", "aspirin", "codeine"],
            "maker": ["Asha", "Bodhi", "Chitra"],
            "price": [1.5, 1.25, 4.0],
            "listed": [datetime.date(2024, 5, 1), datetime.date(2025, 3, 1), datetime.date(2023, 1, 1)],
        }
    )
