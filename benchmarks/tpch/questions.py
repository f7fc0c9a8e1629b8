"""Five questions of TPC-H, as the specification writes them (3.0.1, section 2.4, with its validation parameters).

Nothing in them is changed: comma joins, WHERE equalities, ORDER BY and arithmetic over aggregates stand as they
are. An analyst who wants less noise may edit three of them; the edits ask for the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """One question.

    Attributes:
        name: Its number in the specification.
        select: What is asked for.
        rows: The rows that it is asked of, FROM and WHERE.
        keys: How many of the first columns are group keys.
        max_rows: For how many of these rows a customer may count: as declared (Q1), or the least number at which
            bounding loses at most 1/400 of the rows, on tables that were generated at scale 0.1. The
            specification draws a customer's rows alike at all scales, so this is public knowledge.
        tail: GROUP BY and ORDER BY.
        edit: The select (and tail) that ask for the same with less noise.
    """

    name: str
    select: str
    rows: str
    keys: int
    max_rows: int
    tail: str = ""
    edit: tuple[str, int, str] | None = None

    @property
    def sql(self) -> str:
        """The question."""
        return f"{self.select}\n{self.rows}\n{self.tail}"

    @property
    def edited(self) -> Asked:
        """The question with the edit."""
        if self.edit is None:
            return self
        select, keys, tail = self.edit
        return Asked(self.name, select, self.rows, keys, self.max_rows, tail)

    @property
    def rows_of_customers(self) -> str:
        """A query of how many rows each customer has in it."""
        rows = self.rows
        if "orders" not in rows:
            rows = rows.replace("from lineitem", "from orders, lineitem") + " and l_orderkey = o_orderkey"
        return f"select count(*) as n {rows} group by o_custkey"


Q1 = Asked(
    "Q1",
    """select
    l_returnflag,
    l_linestatus,
    sum(l_quantity) as sum_qty,
    sum(l_extendedprice) as sum_base_price,
    sum(l_extendedprice * (1 - l_discount)) as sum_disc_price,
    sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
    avg(l_quantity) as avg_qty,
    avg(l_extendedprice) as avg_price,
    avg(l_discount) as avg_disc,
    count(*) as count_order""",
    """from lineitem
where l_shipdate <= date '1998-12-01' - interval '90' day""",
    keys=2,
    max_rows=120,
    tail="""group by l_returnflag, l_linestatus
order by l_returnflag, l_linestatus""",
    edit=(
        """select
    l_returnflag,
    l_linestatus,
    sum(l_quantity) as sum_qty,
    sum(l_extendedprice) as sum_base_price,
    sum(l_extendedprice * (1 - l_discount)) as sum_disc_price,
    sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
    sum(l_quantity) / count(*) as avg_qty,
    sum(l_extendedprice) / count(*) as avg_price,
    sum(l_discount) / count(*) as avg_disc,
    count(*) as count_order""",
        2,
        """group by l_returnflag, l_linestatus
order by l_returnflag, l_linestatus""",
    ),
)

Q5 = Asked(
    "Q5",
    """select
    n_name,
    sum(l_extendedprice * (1 - l_discount)) as revenue""",
    """from customer, orders, lineitem, supplier, nation, region
where
    c_custkey = o_custkey
    and l_orderkey = o_orderkey
    and l_suppkey = s_suppkey
    and c_nationkey = s_nationkey
    and s_nationkey = n_nationkey
    and n_regionkey = r_regionkey
    and r_name = 'ASIA'
    and o_orderdate >= date '1994-01-01'
    and o_orderdate < date '1994-01-01' + interval '1' year""",
    keys=1,
    max_rows=4,
    tail="""group by n_name
order by revenue desc""",
)

Q6 = Asked(
    "Q6",
    "select sum(l_extendedprice * l_discount) as revenue",
    """from lineitem
where
    l_shipdate >= date '1994-01-01'
    and l_shipdate < date '1994-01-01' + interval '1' year
    and l_discount between 0.06 - 0.01 and 0.06 + 0.01
    and l_quantity < 24""",
    keys=0,
    max_rows=7,
    # 23 pieces of at most 2,099 each, and a discount of at most 0.07.
    edit=("select sum(least(l_extendedprice * l_discount, 3380)) as revenue", 0, ""),
)

Q12 = Asked(
    "Q12",
    """select
    l_shipmode,
    sum(case when o_orderpriority = '1-URGENT' or o_orderpriority = '2-HIGH'
        then 1 else 0 end) as high_line_count,
    sum(case when o_orderpriority <> '1-URGENT' and o_orderpriority <> '2-HIGH'
        then 1 else 0 end) as low_line_count""",
    """from orders, lineitem
where
    o_orderkey = l_orderkey
    and l_shipmode in ('MAIL', 'SHIP')
    and l_commitdate < l_receiptdate
    and l_shipdate < l_commitdate
    and l_receiptdate >= date '1994-01-01'
    and l_receiptdate < date '1994-01-01' + interval '1' year""",
    keys=1,
    max_rows=4,
    tail="""group by l_shipmode
order by l_shipmode""",
    edit=(
        """select
    l_shipmode,
    o_orderpriority in ('1-URGENT', '2-HIGH') as high,
    count(*) as line_count""",
        2,
        """group by l_shipmode, high
order by l_shipmode""",
    ),
)

Q14 = Asked(
    "Q14",
    """select
    100.00 * sum(case when p_type like 'PROMO%'
        then l_extendedprice * (1 - l_discount) else 0 end)
        / sum(l_extendedprice * (1 - l_discount)) as promo_revenue""",
    """from lineitem, part
where
    l_partkey = p_partkey
    and l_shipdate >= date '1995-09-01'
    and l_shipdate < date '1995-09-01' + interval '1' month""",
    keys=0,
    max_rows=8,
)

QUESTIONS = (Q1, Q5, Q6, Q12, Q14)
