-- Dates and times: ranges in days and microseconds, keys from their parts.

-- # Prescriptions by month
-- loss: epsilon 1
SELECT MONTH(given) AS month, COUNT(*) AS n FROM prescriptions GROUP BY MONTH(given);

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 4 groups
--   keys     MONTH(given): 12 enumerated: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
--   by       (MONTH(given)): 12 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(12)) AS place, unnest('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CAST(TRY(month("given")) AS DOUBLE) AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # By the first day of the month
-- loss: epsilon 1
SELECT DATE_TRUNC('month', given) AS month, SUM(pieces) AS pieces FROM prescriptions GROUP BY month;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 4 groups
--   keys     DATE_TRUNC('month', given): 12 enumerated: 2025-01-01, 2025-02-01, 2025-03-01, 2025-04-01, 2025-05-01, 2025-06-01, 2025-07-01, 2025-08-01, 2025-09-01, 2025-10-01, 2025-11-01, 2025-12-01
--   by       (DATE_TRUNC('month', given)): 12 groups
--   [0]      sum of pieces in [0, 30]; one integer is 1/1048576; moves by L1 120; Laplace, scale 120; epsilon 1
--   value 1  SUM(pieces) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(12)) AS place, unnest('["2025-01-01", "2025-02-01", "2025-03-01", "2025-04-01", "2025-05-01", "2025-06-01", "2025-07-01", "2025-08-01", "2025-09-01", "2025-10-01", "2025-11-01", "2025-12-01"]'::DATE[]) AS value),
contributions AS NOT MATERIALIZED (SELECT nullif(nullif(greatest(least(TRY_CAST(TRY(date_trunc('month', TRY_CAST("given" AS TIMESTAMP))) AS DATE), DATE '10000-01-01'), DATE '0001-12-31 (BC)'), DATE '10000-01-01'), DATE '0001-12-31 (BC)') AS k0, CASE WHEN "pieces" BETWEEN 0 AND 30 THEN TRY_CAST("pieces" AS INTEGER) WHEN "pieces" < 0 THEN 0 WHEN "pieces" > 30 THEN 30 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("pieces" AS BIGINT) AS "pieces", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # By quarter
-- loss: epsilon 1
SELECT QUARTER(given) AS quarter, AVG(dose) AS dose FROM prescriptions GROUP BY quarter;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 4 groups
--   keys     QUARTER(given): 4 enumerated: 1, 2, 3, 4
--   by       (QUARTER(given)): 4 groups
--   [0]      sum of dose in [0, 100], less 50; one integer is 1/17592186044416, 1 times; moves by L1 200; joint noise of 2, scale 200; epsilon 1
--   [1]      rows with dose; one integer is 1/1048576, 838860800 times; moves by L1 4; joint noise of 2, scale 4; epsilon 1
--   value 1  AVG(dose) = (1/17592186044416 x [0] + 1/17592186044416 x [1]) / (1/879609302220800 x [1]), kept in [0, 100]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('[1, 2, 3, 4]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CAST(TRY(quarter("given")) AS DOUBLE) AS k0, CASE WHEN "dose" BETWEEN '0.0'::DOUBLE AND '100.0'::DOUBLE THEN TRY_CAST(("dose" - '50.0'::DOUBLE) * '16777216.0'::DOUBLE AS INTEGER) WHEN "dose" < '0.0'::DOUBLE THEN -838860800 WHEN "dose" <= 'inf'::DOUBLE THEN 838860800 ELSE 0 END AS v0, CAST(coalesce("dose" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("dose" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("dose" AS DOUBLE) END AS "dose", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # By weekday
-- loss: epsilon 1
SELECT DAYOFWEEK(given) AS weekday, COUNT(*) AS n FROM prescriptions GROUP BY weekday;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 4 groups
--   keys     DAYOFWEEK(given): 7 enumerated: 0, 1, 2, 3, 4, 5, 6
--   by       (DAYOFWEEK(given)): 7 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(7)) AS place, unnest('[0, 1, 2, 3, 4, 5, 6]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CAST(TRY(dayofweek("given")) AS DOUBLE) AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # EXTRACT is the same as the part's own name
-- loss: epsilon 1
SELECT EXTRACT(YEAR FROM born) AS year, COUNT(*) AS n FROM patients WHERE born < '1935-01-01' GROUP BY year;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where born < '1935-01-01'
--   rows       all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     YEAR(born): 101 enumerated: 1920, 1921, 1922, 1923, 1924, 1925, 1926, 1927, 1928, 1929, 1930, 1931, ...
--   by       (YEAR(born)): 101 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(101)) AS place, unnest('[1920, 1921, 1922, 1923, 1924, 1925, 1926, 1927, 1928, 1929, 1930, 1931, 1932, 1933, 1934, 1935, 1936, 1937, 1938, 1939, 1940, 1941, 1942, 1943, 1944, 1945, 1946, 1947, 1948, 1949, 1950, 1951, 1952, 1953, 1954, 1955, 1956, 1957, 1958, 1959, 1960, 1961, 1962, 1963, 1964, 1965, 1966, 1967, 1968, 1969, 1970, 1971, 1972, 1973, 1974, 1975, 1976, 1977, 1978, 1979, 1980, 1981, 1982, 1983, 1984, 1985, 1986, 1987, 1988, 1989, 1990, 1991, 1992, 1993, 1994, 1995, 1996, 1997, 1998, 1999, 2000, 2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008, 2009, 2010, 2011, 2012, 2013, 2014, 2015, 2016, 2017, 2018, 2019, 2020]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CAST(TRY(year("born")) AS DOUBLE) AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("born" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("born" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "born" FROM "frame patients") WHERE "patient_id" IS NOT NULL AND ("born" < DATE '1935-01-01')),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # By decade of birth
-- loss: epsilon 1
SELECT YEAR(born) // 10 AS decade, AVG(height) AS height FROM patients GROUP BY decade;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     YEAR(born) // 10: 11 enumerated: 192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202
--   by       (YEAR(born) // 10): 11 groups
--   [0]      sum of height in [50, 250], less 150; one integer is 1/8796093022208, 1 times; moves by L1 100; joint noise of 2, scale 100; epsilon 1
--   [1]      rows with height; one integer is 1/1048576, 838860800 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(height) = (1/8796093022208 x [0] + about 1.705302566e-13 x [1]) / (1/879609302220800 x [1]), kept in [50, 250]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(11)) AS place, unnest('[192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT trunc(CAST(TRY(year("born")) AS DOUBLE) / nullif('10.0'::DOUBLE, 0)) AS k0, CASE WHEN "height" BETWEEN '50.0'::DOUBLE AND '250.0'::DOUBLE THEN TRY_CAST(("height" - '150.0'::DOUBLE) * '8388608.0'::DOUBLE AS INTEGER) WHEN "height" < '50.0'::DOUBLE THEN -838860800 WHEN "height" <= 'inf'::DOUBLE THEN 838860800 ELSE 0 END AS v0, CAST(coalesce("height" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("born" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("born" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "born", CASE WHEN TRY_CAST("height" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("height" AS DOUBLE) END AS "height" FROM "frame patients") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # By hour of a time
-- loss: epsilon 1
SELECT HOUR(taken) AS hour, COUNT(*) AS n FROM prescriptions GROUP BY hour;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 4 groups
--   keys     HOUR(taken): 24 enumerated: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...
--   by       (HOUR(taken)): 24 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(24)) AS place, unnest('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CAST(TRY(hour("taken")) AS DOUBLE) AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("taken" AS TIMESTAMP) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN greatest(least(TRY_CAST("taken" AS TIMESTAMP), TIMESTAMP '9999-12-31 23:59:59.999999'), TIMESTAMP '0001-01-01 00:00:00') END AS "taken" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A difference of dates is a number with a range
-- loss: epsilon 1
SELECT AVG(DATE_DIFF('day', born, DATE '2025-01-01')) AS days FROM patients;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of DATE_DIFF('day', born, DATE '2025-01-01') in [1462, 38352], less 19907; one integer is 1/1048576, 1 times; moves by L1 18445; joint noise of 2, scale 18445; epsilon 1
--   [1]      rows with DATE_DIFF('day', born, DATE '2025-01-01'); one integer is 1/1048576, 18445 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(DATE_DIFF('day', born, DATE '2025-01-01')) = (1/1048576 x [0] + about 1.029265092e-06 x [1]) / (1/19340984320 x [1]), kept in [1462, 38352]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST((greatest(least(CAST(TRY(date_diff('day', TRY_CAST("born" AS TIMESTAMP), TRY_CAST(DATE '2025-01-01' AS TIMESTAMP))) AS DOUBLE), '38352.0'::DOUBLE), '1462.0'::DOUBLE) - '19907.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(TRY(date_diff('day', TRY_CAST("born" AS TIMESTAMP), TRY_CAST(DATE '2025-01-01' AS TIMESTAMP))) AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(CAST(TRY(date_diff('day', TRY_CAST("born" AS TIMESTAMP), TRY_CAST(DATE '2025-01-01' AS TIMESTAMP))) AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("born" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("born" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "born" FROM "frame patients") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Days between two tables
-- loss: epsilon 1
SELECT AVG(r.given - p.born) AS days FROM prescriptions r JOIN patients p ON r.patient_id = p.patient_id;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on r.patient_id = p.patient_id
--   rows       all of prescriptions as r
--   rows       at most 16 rows of each owner
--   rows         all of patients as p
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      sum of r.given - p.born in [1462, 38716], less 20089; one integer is 1/1048576, 1 times; moves by L1 74508; joint noise of 2, scale 74508; epsilon 1
--   [1]      rows with r.given - p.born; one integer is 1/1048576, 18627 times; moves by L1 4; joint noise of 2, scale 4; epsilon 1
--   value 1  AVG(r.given - p.born) = (1/1048576 x [0] + about 1.028526512e-06 x [1]) / (1/19531825152 x [1]), kept in [1462, 38716]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT (CAST((greatest(least(CAST(date_diff('day', "p.born", "r.given") AS DOUBLE), '38716.0'::DOUBLE), '1462.0'::DOUBLE) - '20089.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(date_diff('day', "p.born", "r.given") AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(CAST(date_diff('day', "p.born", "r.given") AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT l.owner AS owner, "r.given", "p.born" FROM (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id", "given" AS "r.given" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "born" AS "p.born" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("born" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("born" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "born" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.born" AS "p.born" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.born" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.born" AS "p.born", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."p.born" AS VARCHAR), '')), r."p.patient_id", r."p.born") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("r.patient_id" = "p.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Weeks and days
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM prescriptions WHERE WEEK(given) < 20 AND DAY(given) > 3 AND ISODOW(given) < 6 AND DAYOFYEAR(given) > 12;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where WEEK(given) < 20 AND DAY(given) > 3 AND ISODOW(given) < 6 AND DAYOFYEAR(given) > 12
--   rows       all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL AND ((((CAST(TRY(week(TRY_CAST("given" AS TIMESTAMP))) AS DOUBLE) < '20.0'::DOUBLE) AND (CAST(TRY(day("given")) AS DOUBLE) > '3.0'::DOUBLE)) AND (CAST(TRY(isodow("given")) AS DOUBLE) < '6.0'::DOUBLE)) AND (CAST(TRY(dayofyear("given")) AS DOUBLE) > '12.0'::DOUBLE))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Minutes and seconds
-- loss: epsilon 1
SELECT MINUTE(taken) // 30 AS half, COUNT(*) AS n, SUM(SECOND(taken)) AS seconds FROM prescriptions GROUP BY half;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 2 groups
--   keys     MINUTE(taken) // 30: 2 enumerated: 0, 1
--   by       (MINUTE(taken) // 30): 2 groups
--   [0]      rows; one integer is 1/1048576, 30 times; moves by L1 4; joint noise of 2, scale 4; epsilon 1
--   [1]      sum of SECOND(taken) in [0, 59], less 29; one integer is 1/1048576, 1 times; moves by L1 120; joint noise of 2, scale 120; epsilon 1
--   value 1  COUNT(*) = 1/31457280 x [0]
--   value 2  SUM(SECOND(taken)) = about 9.218851725e-07 x [0] + 1/1048576 x [1]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('[0, 1]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT trunc(CAST(TRY(minute("taken")) AS DOUBLE) / nullif('30.0'::DOUBLE, 0)) AS k0, (CAST(greatest(least(CAST(TRY(second("taken")) AS DOUBLE), '59.0'::DOUBLE), '0.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(TRY(second("taken")) AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("taken" AS TIMESTAMP) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN greatest(least(TRY_CAST("taken" AS TIMESTAMP), TIMESTAMP '9999-12-31 23:59:59.999999'), TIMESTAMP '0001-01-01 00:00:00') END AS "taken" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0, sum(w * v1) + CAST(sum(w) AS HUGEINT) * -29 AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Names of months and days
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM prescriptions WHERE MONTHNAME(given) = 'March' OR DAYNAME(given) = 'Monday';

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where MONTHNAME(given) = 'March' OR DAYNAME(given) = 'Monday'
--   rows       all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL AND ((monthname("given") = 'March') OR (dayname("given") = 'Monday'))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Ends of months
-- loss: epsilon 1
SELECT AVG(LAST_DAY(given) - given) AS days FROM prescriptions;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      sum of LAST_DAY(given) - given in [-334, 364], less 15; one integer is 1/1048576, 1 times; moves by L1 1396; joint noise of 2, scale 1396; epsilon 1
--   [1]      rows with LAST_DAY(given) - given; one integer is 1/1048576, 349 times; moves by L1 4; joint noise of 2, scale 4; epsilon 1
--   value 1  AVG(LAST_DAY(given) - given) = (1/1048576 x [0] + about 4.098886747e-08 x [1]) / (1/365953024 x [1]), kept in [-334, 364]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST((greatest(least(CAST(date_diff('day', "given", nullif(nullif(greatest(least(TRY(last_day("given")), DATE '10000-01-01'), DATE '0001-12-31 (BC)'), DATE '10000-01-01'), DATE '0001-12-31 (BC)')) AS DOUBLE), '364.0'::DOUBLE), '-334.0'::DOUBLE) - '15.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(date_diff('day', "given", nullif(nullif(greatest(least(TRY(last_day("given")), DATE '10000-01-01'), DATE '0001-12-31 (BC)'), DATE '10000-01-01'), DATE '0001-12-31 (BC)')) AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(CAST(date_diff('day', "given", nullif(nullif(greatest(least(TRY(last_day("given")), DATE '10000-01-01'), DATE '0001-12-31 (BC)'), DATE '10000-01-01'), DATE '0001-12-31 (BC)')) AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Whole months between dates
-- loss: epsilon 1
SELECT AVG(DATE_SUB('month', born, DATE '2025-06-15')) AS months FROM patients;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of DATE_SUB('month', born, DATE '2025-06-15') in [53, 1265], less 659; one integer is 1/1048576, 1 times; moves by L1 606; joint noise of 2, scale 606; epsilon 1
--   [1]      rows with DATE_SUB('month', born, DATE '2025-06-15'); one integer is 1/1048576, 606 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(DATE_SUB('month', born, DATE '2025-06-15')) = (1/1048576 x [0] + about 1.037081476e-06 x [1]) / (1/635437056 x [1]), kept in [53, 1265]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST((greatest(least(CAST(TRY(date_sub('month', TRY_CAST("born" AS TIMESTAMP), TRY_CAST(DATE '2025-06-15' AS TIMESTAMP))) AS DOUBLE), '1265.0'::DOUBLE), '53.0'::DOUBLE) - '659.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(TRY(date_sub('month', TRY_CAST("born" AS TIMESTAMP), TRY_CAST(DATE '2025-06-15' AS TIMESTAMP))) AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(CAST(TRY(date_sub('month', TRY_CAST("born" AS TIMESTAMP), TRY_CAST(DATE '2025-06-15' AS TIMESTAMP))) AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("born" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("born" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "born" FROM "frame patients") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Months and seconds later
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM prescriptions WHERE given + INTERVAL 1 MONTH < DATE '2025-06-01' AND taken - INTERVAL 90 SECOND > TIMESTAMP '2025-02-01 00:00:00';

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where given + INTERVAL 1 MONTH < '2025-06-01' AND taken - INTERVAL 90 SECOND > '2025-02-01 00:00:00'
--   rows       all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given", CASE WHEN TRY_CAST("taken" AS TIMESTAMP) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN greatest(least(TRY_CAST("taken" AS TIMESTAMP), TIMESTAMP '9999-12-31 23:59:59.999999'), TIMESTAMP '0001-01-01 00:00:00') END AS "taken" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL AND ((nullif(nullif(greatest(least(TRY_CAST(TRY("given" + to_months(1)) AS DATE), DATE '10000-01-01'), DATE '0001-12-31 (BC)'), DATE '10000-01-01'), DATE '0001-12-31 (BC)') < DATE '2025-06-01') AND (nullif(nullif(greatest(least(TRY_CAST(TRY("taken" + to_seconds(-90)) AS TIMESTAMP), TIMESTAMP '10000-01-01'), TIMESTAMP '0001-12-31 (BC) 23:59:59.999999'), TIMESTAMP '10000-01-01'), TIMESTAMP '0001-12-31 (BC) 23:59:59.999999') > TIMESTAMP '2025-02-01 00:00:00'))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Dates moved by an interval
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM prescriptions WHERE given + INTERVAL 30 DAY < DATE '2025-06-01';

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where given + INTERVAL 30 DAY < '2025-06-01'
--   rows       all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL AND (nullif(nullif(greatest(least(TRY_CAST(TRY("given" + to_days(30)) AS DATE), DATE '10000-01-01'), DATE '0001-12-31 (BC)'), DATE '10000-01-01'), DATE '0001-12-31 (BC)') < DATE '2025-06-01')),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A date read from text
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM prescriptions WHERE given BETWEEN '2025-02-01' AND '2025-03-31';

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where given >= '2025-02-01' AND given <= '2025-03-31'
--   rows       all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL AND (("given" >= DATE '2025-02-01') AND ("given" <= DATE '2025-03-31'))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # The middle day
-- loss: epsilon 1
SELECT MEDIAN(given) AS day FROM prescriptions;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      quantile 1/2 of given, 365 marks from 20089 by 1; ranks move by 2 rows; permute-and-flip; epsilon 0.875
--   [1]      low end of the interval of quantile 1/2 of given, 365 marks from 20089 by 1; ranks move by 2 rows; permute-and-flip; epsilon 0.0625
--   [2]      high end of the interval of quantile 1/2 of given, 365 marks from 20089 by 1; ranks move by 2 rows; permute-and-flip; epsilon 0.0625
--   value 1  MEDIAN(given) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST(date_diff('day', DATE '1970-01-01', "given") AS DOUBLE) BETWEEN '20089.0'::DOUBLE AND '20453.0'::DOUBLE THEN TRY_CAST(round((CAST(date_diff('day', DATE '1970-01-01', "given") AS DOUBLE) - '20089.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST(date_diff('day', DATE '1970-01-01', "given") AS DOUBLE) < '20089.0'::DOUBLE THEN 0 WHEN CAST(date_diff('day', DATE '1970-01-01', "given") AS DOUBLE) <= 'inf'::DOUBLE THEN 364 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # The middle moment
-- loss: epsilon 1
SELECT MEDIAN(taken) AS moment FROM prescriptions;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      quantile 1/2 of taken, 65536 marks from 1735689600000000 by 481208500; ranks move by 2 rows; permute-and-flip; epsilon 0.875
--   [1]      low end of the interval of quantile 1/2 of taken, 65536 marks from 1735689600000000 by 481208500; ranks move by 2 rows; permute-and-flip; epsilon 0.0625
--   [2]      high end of the interval of quantile 1/2 of taken, 65536 marks from 1735689600000000 by 481208500; ranks move by 2 rows; permute-and-flip; epsilon 0.0625
--   value 1  MEDIAN(taken) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST(epoch_us("taken") AS DOUBLE) BETWEEN '1735689600000000.0'::DOUBLE AND '1767225599047500.0'::DOUBLE THEN TRY_CAST(round((CAST(epoch_us("taken") AS DOUBLE) - '1735689600000000.0'::DOUBLE) / '481208500.0'::DOUBLE) AS INTEGER) WHEN CAST(epoch_us("taken") AS DOUBLE) < '1735689600000000.0'::DOUBLE THEN 0 WHEN CAST(epoch_us("taken") AS DOUBLE) <= 'inf'::DOUBLE THEN 65535 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("taken" AS TIMESTAMP) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN greatest(least(TRY_CAST("taken" AS TIMESTAMP), TIMESTAMP '9999-12-31 23:59:59.999999'), TIMESTAMP '0001-01-01 00:00:00') END AS "taken" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # The last day, and the first among some
-- loss: epsilon 1
SELECT MAX(given) AS last, MIN(given) FILTER (WHERE pieces > 5) AS first FROM prescriptions;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      quantile 1 of given, 365 marks from 20089 by 1; ranks move by 4 rows; permute-and-flip; epsilon 0.467042
--   [1]      low end of the interval of quantile 1 of given, 365 marks from 20089 by 1; ranks move by 4 rows; permute-and-flip; epsilon 0.0332032
--   [2]      quantile 0 of CASE WHEN pieces > 5 THEN given ELSE NULL END, 365 marks from 20089 by 1; ranks move by 4 rows; permute-and-flip; epsilon 0.466553
--   [3]      high end of the interval of quantile 0 of CASE WHEN pieces > 5 THEN given ELSE NULL END, 365 marks from 20089 by 1; ranks move by 4 rows; permute-and-flip; epsilon 0.0332032
--   value 1  MAX(given) = [0] from [1] to the end of the range
--   value 2  MIN(given) FILTER (WHERE pieces > 5) = [2] from the end of the range to [3]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST(date_diff('day', DATE '1970-01-01', "given") AS DOUBLE) BETWEEN '20089.0'::DOUBLE AND '20453.0'::DOUBLE THEN TRY_CAST(round((CAST(date_diff('day', DATE '1970-01-01', "given") AS DOUBLE) - '20089.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST(date_diff('day', DATE '1970-01-01', "given") AS DOUBLE) < '20089.0'::DOUBLE THEN 0 WHEN CAST(date_diff('day', DATE '1970-01-01', "given") AS DOUBLE) <= 'inf'::DOUBLE THEN 364 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;

WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST(date_diff('day', DATE '1970-01-01', CASE WHEN ("pieces" > 5) THEN "given" ELSE NULL END) AS DOUBLE) BETWEEN '20089.0'::DOUBLE AND '20453.0'::DOUBLE THEN TRY_CAST(round((CAST(date_diff('day', DATE '1970-01-01', CASE WHEN ("pieces" > 5) THEN "given" ELSE NULL END) AS DOUBLE) - '20089.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST(date_diff('day', DATE '1970-01-01', CASE WHEN ("pieces" > 5) THEN "given" ELSE NULL END) AS DOUBLE) < '20089.0'::DOUBLE THEN 0 WHEN CAST(date_diff('day', DATE '1970-01-01', CASE WHEN ("pieces" > 5) THEN "given" ELSE NULL END) AS DOUBLE) <= 'inf'::DOUBLE THEN 364 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("pieces" AS BIGINT) AS "pieces", CASE WHEN TRY_CAST("given" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("given" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "given" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # By declared days
-- loss: epsilon 1
SELECT day, COUNT(*) AS n FROM stays GROUP BY day;

-- plan
--   table    stays: patient_id; replace-one; a change moves 2 vectors; epsilon 1
--   rows     all of stays
--   bound    a person counts for at most 5 rows, and as a person in at most 2 groups
--   keys     day: 2 declared: 2026-01-01, 2026-01-02
--   by       (day): 2 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 10; Laplace, scale 10; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["2026-01-01", "2026-01-02"]'::DATE[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "day" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("day" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("day" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "day" FROM "source /data/clinic.duckdb"."stays") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
