"""Every aggregate, and every way through the planner, registered with the auditor: a line for each."""

from __future__ import annotations

from jali.audit.jali_subjects.path import Path
from jali.audit.jali_subjects.people import Whose
from jali.privacy import Adjacency

_PEOPLE = Whose.PERSON
_REPLACED = Adjacency.REPLACE_ONE
# A choice among keys or marks takes longer to draw than noise.
_SOME, _FEW, _FEWEST = 500, 200, 50

# By the name of the aggregate in `jali.query.aggregates`.
AGGREGATES: tuple[Path, ...] = (
    Path("count", "COUNT(*)"),
    Path("count", "COUNT(*)", rho="0.5"),
    Path("count", "COUNT(*)", _PEOPLE),
    Path("count", "COUNT(*)", _PEOPLE, _REPLACED, by=("ward",)),
    Path("count", "COUNT(*)", Whose.ROW, _REPLACED, by=("ward",)),
    Path("count", "COUNT(x)", _PEOPLE, rho="0.5"),
    Path("count", "COUNT(DISTINCT person)", _PEOPLE),
    Path("count", "COUNT(DISTINCT x)", _PEOPLE),
    Path("sum", "SUM(x)"),
    Path("sum", "SUM(x)", Whose.ROW, _REPLACED, rho="0.5", by=("ward",)),
    Path("sum", "SUM(x - 2)", _PEOPLE),
    Path("sum", "SUM(x)", _PEOPLE, _REPLACED, by=("ward",)),
    Path("avg", "AVG(x)"),
    Path("avg", "AVG(x)", Whose.ROW, _REPLACED, by=("ward",)),
    Path("avg", "AVG(x)", _PEOPLE, rho="0.5"),
    Path("var_pop", "VAR_POP(x)"),
    Path("var_samp", "VAR_SAMP(x)", _PEOPLE),
    Path("stddev_pop", "STDDEV_POP(x)", rho="0.5"),
    Path("stddev_samp", "STDDEV_SAMP(x)", Whose.ROW, _REPLACED, by=("ward",)),
    Path("covar_pop", "COVAR_POP(y, x)"),
    Path("covar_samp", "COVAR_SAMP(y, x)", _PEOPLE),
    Path("corr", "CORR(y, x)"),
    Path("corr", "CORR(y, x)", _PEOPLE, _REPLACED, rho="0.5", by=("ward",)),
    Path("regr_slope", "REGR_SLOPE(y, x)"),
    Path("regr_intercept", "REGR_INTERCEPT(y, x)", _PEOPLE),
    Path("regr_count", "REGR_COUNT(y, x)"),
    Path("regr_avgx", "REGR_AVGX(y, x)"),
    Path("regr_avgy", "REGR_AVGY(y, x)", rho="0.5"),
    Path("regr_sxx", "REGR_SXX(y, x)"),
    Path("regr_syy", "REGR_SYY(y, x)", Whose.ROW, _REPLACED, by=("ward",)),
    Path("regr_sxy", "REGR_SXY(y, x)"),
    Path("regr_r2", "REGR_R2(y, x)"),
    Path("median", "MEDIAN(x)", copies=_FEW),
    Path("median", "MEDIAN(x)", _PEOPLE, _REPLACED, copies=_FEW),
    Path("median", "MEDIAN(x)", _PEOPLE, rho="0.5", copies=_FEW),
    Path("quantile_cont", "QUANTILE_CONT(x, [0.25, 0.75])", copies=_FEWEST),
    Path("quantile_disc", "QUANTILE_DISC(x, 0.9)", copies=_FEW),
    Path("approx_quantiles", "APPROX_QUANTILES(x, 2)", copies=_FEWEST),
    Path("min", "MIN(x)", copies=_FEW),
    Path("max", "MAX(x)", _PEOPLE, copies=_FEW),
    Path("mode", "MODE(ward)", copies=_SOME),
    Path("mode", "MODE(ward)", _PEOPLE, _REPLACED, rho="0.5", copies=_SOME),
    Path("approx_top_k", "APPROX_TOP_K(ward, 1)", copies=_SOME),
    Path("histogram", "HISTOGRAM(x)"),
    Path("histogram", "HISTOGRAM(x, [1, 3])", _PEOPLE, _REPLACED, rho="0.5", by=("ward",)),
    Path("cdf", "CDF(x, [1, 3])"),
    Path("cdf", "CDF(x)", _PEOPLE, rho="0.5"),
)

# Tables, clauses and terms, by the word for what is special about each.
QUESTIONS: tuple[Path, ...] = (
    Path("two aggregates", "COUNT(*), SUM(x)"),
    Path("noise and a choice", "COUNT(*), MODE(ward)", copies=_SOME),
    Path("FILTER", "COUNT(*) FILTER (WHERE x > 2), COUNT(*)", _PEOPLE),
    Path("WHERE", "SUM(x)", source="people WHERE y > 2"),
    Path("grouped by keys", "COUNT(*)", _PEOPLE, by=("ward",)),
    Path("grouped by numbers", "COUNT(*)", _PEOPLE, _REPLACED, by=("x",)),
    Path("grouping sets", "COUNT(*)", by=("ward",), grouped="GROUPING SETS ((trial, ward), (trial))"),
    Path(
        "grouping sets",
        "SUM(x)",
        _PEOPLE,
        rho="0.5",
        by=("ward",),
        grouped="GROUPING SETS ((trial, ward), (trial))",
    ),
    Path("one row for each person", "COUNT(*)", _PEOPLE, unique=True),
    Path("prepared copy", "SUM(x)", _PEOPLE, prepared=True),
    Path("max_rows", "COUNT(*)", _PEOPLE, terms=(("max_rows", 1),)),
    Path("max_groups", "COUNT(DISTINCT person)", _PEOPLE, by=("ward",), terms=(("max_groups", 1),)),
    Path("unknown keys", "COUNT(*)", by=("code",), delta="0.1"),
    Path("unknown keys", "COUNT(*)", _PEOPLE, by=("code",), delta="0.1", terms=(("max_groups", 1),)),
    Path("unknown keys", "COUNT(DISTINCT person)", _PEOPLE, by=("code",), delta="0.1", terms=(("max_groups", 1),)),
    Path("unknown keys", "SUM(x)", _PEOPLE, _REPLACED, by=("code",), delta="0.1"),
    Path("unknown keys", "COUNT(*)", _PEOPLE, rho="0.5", by=("code",), delta="0.1"),
    Path("min_people", "COUNT(*)", _PEOPLE, delta="0.1", terms=(("min_people", 2),)),
    Path("join", "COUNT(*)", _PEOPLE, source="people JOIN stays USING (trial, person)"),
    Path(
        "left join",
        "SUM(y)",
        _PEOPLE,
        source="(SELECT s.trial AS trial, s.y AS y FROM stays AS s LEFT JOIN people AS p ON s.person = p.person "
        "WHERE p.person IS NULL)",
    ),
    Path("join of a public table", "COUNT(*)", _PEOPLE, by=("floor",), source="people JOIN wards USING (ward)"),
    Path("EXISTS", "COUNT(*)", _PEOPLE, source="people WHERE person IN (SELECT person FROM stays WHERE x = 0)"),
    Path("UNION ALL", "COUNT(*)", _PEOPLE, source="(SELECT * FROM people UNION ALL SELECT * FROM stays)"),
    Path("subquery", "AVG(z)", source="(SELECT trial, x + y AS z FROM people WHERE x > 0)"),
    Path(
        "per person first",
        "SUM(n)",
        _PEOPLE,
        source="(SELECT trial, person, COUNT(*) AS n FROM people GROUP BY trial, person)",
    ),
    Path("DISTINCT", "COUNT(*)", _PEOPLE, source="(SELECT DISTINCT trial, person, ward FROM people)"),
)

PATHS: tuple[Path, ...] = (*AGGREGATES, *QUESTIONS)
