-- Public tables: their rows are nobody's secret; the rows of a join belong to the people of the other side.

-- # Visits by floor: the keys come from the public table
-- loss: epsilon 1
SELECT w.floor, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.floor;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   wards
--   rows     inner join, with public rows, on v.ward = w.ward
--   rows       all of visits as v
--   rows       all of wards as w
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     w.floor: 3 declared: 1, 2, 3
--   by       (w.floor): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS MATERIALIZED (SELECT "w.floor" AS k0, owner FROM (SELECT l.owner AS owner, "w.floor" FROM (SELECT "patient_id" AS owner, "ward" AS "v.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (SELECT "ward" AS "w.ward", "floor" AS "w.floor" FROM (SELECT CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("floor" AS BIGINT) AS "floor" FROM "frame wards")) AS r ON ("v.ward" = "w.ward"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # The range of beds is public too
-- loss: epsilon 1
SELECT SUM(w.beds) AS beds FROM visits v JOIN wards w ON v.ward = w.ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   wards
--   rows     inner join, with public rows, on v.ward = w.ward
--   rows       all of visits as v
--   rows       all of wards as w
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of w.beds in [8, 30]; one integer is 1/1048576; moves by L1 150; Laplace, scale 150; epsilon 1
--   value 1  SUM(w.beds) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "w.beds" BETWEEN 8 AND 30 THEN TRY_CAST("w.beds" AS INTEGER) WHEN "w.beds" < 8 THEN 8 WHEN "w.beds" > 30 THEN 30 ELSE 0 END AS v0, owner FROM (SELECT l.owner AS owner, "w.beds" FROM (SELECT "patient_id" AS owner, "ward" AS "v.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (SELECT "ward" AS "w.ward", "beds" AS "w.beds" FROM (SELECT CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("beds" AS BIGINT) AS "beds" FROM "frame wards")) AS r ON ("v.ward" = "w.ward"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A left join keeps visits of unknown wards
-- loss: epsilon 1
SELECT COUNT(*) AS n, COUNT(w.ward) AS known FROM visits v LEFT JOIN wards w ON v.ward = w.ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   wards
--   rows     left join, with public rows, on v.ward = w.ward
--   rows       all of visits as v
--   rows       all of wards as w
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   [1]      rows with w.ward; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   value 2  COUNT(w.ward) = 1/1048576 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CAST(("w.ward" IS NOT NULL) AS INTEGER) AS v1, owner FROM (SELECT l.owner AS owner, "w.ward" FROM (SELECT "patient_id" AS owner, "ward" AS "v.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l LEFT JOIN (SELECT "ward" AS "w.ward" FROM (SELECT CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM "frame wards")) AS r ON ("v.ward" = "w.ward"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # A public table that multiplies rows is bounded
-- loss: epsilon 1
SELECT d.maker, COUNT(*) AS n FROM prescriptions r JOIN drugs d USING (drug) GROUP BY d.maker;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   drugs
--   rows     inner join, with public rows, on r.drug = d.drug
--   rows       all of prescriptions as r
--   rows       all of drugs as d
--   bound    a person counts for at most 4 rows, and as a person in at most 3 groups
--   keys     d.maker: 3 declared: Asha, Bodhi, Chitra
--   by       (d.maker): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["Asha", "Bodhi", "Chitra"]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "d.maker" AS k0, owner FROM (SELECT l.owner AS owner, "d.maker" FROM (SELECT "patient_id" AS owner, "drug" AS "r.drug" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS l JOIN (SELECT "drug" AS "d.drug", "maker" AS "d.maker" FROM (SELECT CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug", CASE WHEN strlen(TRY_CAST("maker" AS VARCHAR)) <= 65536 THEN TRY_CAST("maker" AS VARCHAR) COLLATE "C" END AS "maker" FROM "frame drugs")) AS r ON ("r.drug" = "d.drug"))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Price times pieces
-- loss: epsilon 1
SELECT SUM(d.price * r.pieces) AS worth FROM prescriptions r JOIN drugs d ON r.drug = d.drug;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   drugs
--   rows     inner join, with public rows, on r.drug = d.drug
--   rows       all of prescriptions as r
--   rows       all of drugs as d
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      sum of d.price * r.pieces in [0, 120]; one integer is 1/8796093022208; moves by L1 480; Laplace, scale 480; epsilon 1
--   value 1  SUM(d.price * r.pieces) = 1/8796093022208 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT (CAST(greatest(least(("d.price" * CAST("r.pieces" AS DOUBLE)), '120.0'::DOUBLE), '0.0'::DOUBLE) * '8388608.0'::DOUBLE AS INTEGER)) * CAST(coalesce(("d.price" * CAST("r.pieces" AS DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, owner FROM (SELECT l.owner AS owner, "r.pieces", "d.price" FROM (SELECT "patient_id" AS owner, "drug" AS "r.drug", "pieces" AS "r.pieces" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug", TRY_CAST("pieces" AS BIGINT) AS "pieces" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS l JOIN (SELECT "drug" AS "d.drug", "price" AS "d.price" FROM (SELECT CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug", CASE WHEN TRY_CAST("price" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("price" AS DOUBLE) END AS "price" FROM "frame drugs")) AS r ON ("r.drug" = "d.drug"))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A cross join with public rows
-- loss: epsilon 1, max_rows 12
SELECT w.ward, COUNT(*) AS n FROM visits v CROSS JOIN wards w WHERE v.level >= w.floor GROUP BY w.ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   wards
--   rows     where v.level >= w.floor
--   rows       inner join, with public rows
--   rows         all of visits as v
--   rows         all of wards as w
--   bound    a person counts for at most 12 rows, and as a person in at most 4 groups
--   keys     w.ward: 4 declared: A, B, D, it's
--   by       (w.ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 12; Laplace, scale 12; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "D", "it''s"]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "w.ward" AS k0, owner FROM (SELECT l.owner AS owner, "v.level", "w.ward", "w.floor" FROM (SELECT "patient_id" AS owner, "level" AS "v.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (SELECT "ward" AS "w.ward", "floor" AS "w.floor" FROM (SELECT CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("floor" AS BIGINT) AS "floor" FROM "frame wards")) AS r ON TRUE) WHERE ("v.level" >= "w.floor")),
weights AS (SELECT owner, CAST(least(1048576, 12582912 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Rows that are people with a public table
-- loss: epsilon 1
SELECT w.floor, AVG(p.age) AS age FROM people p JOIN wards w ON p.ward = w.ward GROUP BY w.floor;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 1
--   public   wards
--   rows     inner join, with public rows, on p.ward = w.ward
--   rows       all of people as p
--   rows       all of wards as w
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     w.floor: 3 declared: 1, 2, 3
--   by       (w.floor): 3 groups
--   [0]      sum of p.age in [0, 120], less 60; one integer is 1/1048576, 1 times; moves by L1 60; joint noise of 2, scale 60; epsilon 1
--   [1]      rows with p.age; one integer is 1/1048576, 60 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(p.age) = (1/1048576 x [0] + 1/1048576 x [1]) / (1/62914560 x [1]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS MATERIALIZED (SELECT "w.floor" AS k0, CASE WHEN "p.age" BETWEEN 0 AND 120 THEN TRY_CAST("p.age" AS INTEGER) - 60 WHEN "p.age" < 0 THEN -60 WHEN "p.age" > 120 THEN 60 ELSE 0 END AS v0, CAST(("p.age" IS NOT NULL) AS INTEGER) AS v1, owner FROM (SELECT l.owner AS owner, "p.age", "w.floor" FROM (SELECT row_number() OVER () AS owner, "age" AS "p.age", "ward" AS "p.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note", TRY_CAST("paid" AS BOOLEAN) AS "paid", CASE WHEN TRY_CAST("day" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("day" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "day", CASE WHEN TRY_CAST("at" AS TIMESTAMP) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN greatest(least(TRY_CAST("at" AS TIMESTAMP), TIMESTAMP '9999-12-31 23:59:59.999999'), TIMESTAMP '0001-01-01 00:00:00') END AS "at" FROM "frame people")) AS l JOIN (SELECT "ward" AS "w.ward", "floor" AS "w.floor" FROM (SELECT CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("floor" AS BIGINT) AS "floor" FROM "frame wards")) AS r ON ("p.ward" = "w.ward"))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # The keys of a protected column, listed by a public table
-- loss: epsilon 1
SELECT d.drug, COUNT(*) AS n FROM prescriptions r JOIN (SELECT DISTINCT drug FROM drugs) AS d ON r.drug = d.drug GROUP BY d.drug;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   drugs
--   rows     inner join, with public rows, on r.drug = d.drug
--   rows       all of prescriptions as r
--   rows       columns d.drug = distinct.drug
--   rows         one row per distinct.drug = select.drug
--   rows           columns select.drug = drugs.drug
--   rows             all of drugs as drugs
--   bound    a person counts for at most 4 rows, and as a person in at most 2 groups
--   keys     d.drug: 2 declared: aspirin, codeine
--   by       (d.drug): 2 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["aspirin", "codeine"]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "d.drug" AS k0, owner FROM (SELECT l.owner AS owner, "d.drug" FROM (SELECT "patient_id" AS owner, "drug" AS "r.drug" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS l JOIN (SELECT "distinct.drug" AS "d.drug" FROM (SELECT "select.drug" AS "distinct.drug" FROM (SELECT "drugs.drug" AS "select.drug" FROM (SELECT "drug" AS "drugs.drug" FROM (SELECT CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame drugs"))) GROUP BY "select.drug")) AS r ON ("r.drug" = "d.drug"))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A public table summarised first
-- loss: epsilon 1
SELECT AVG(d.price) AS price FROM prescriptions r JOIN (SELECT drug, MIN(price) AS price FROM drugs GROUP BY drug) AS d ON r.drug = d.drug;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   drugs
--   rows     inner join, with public rows, on r.drug = d.drug
--   rows       all of prescriptions as r
--   rows       columns d.drug = select.drug, d.price = select.price
--   rows         columns select.drug = person.key0, select.price = person.min0
--   rows           one row per person.key0 = drugs.drug; person.min0 = MIN(drugs.price) in [5/4, 4]
--   rows             all of drugs as drugs
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      sum of d.price in [5/4, 4], less 21/8; one integer is 1/562949953421312, 1 times; moves by L1 11/2; joint noise of 2, scale 11/2; epsilon 1
--   [1]      rows with d.price; one integer is 1/1048576, 738197504 times; moves by L1 4; joint noise of 2, scale 4; epsilon 1
--   value 1  AVG(d.price) = (1/562949953421312 x [0] + about 3.391226693e-15 x [1]) / (1/774056185954304 x [1]), kept in [5/4, 4]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "d.price" BETWEEN '1.25'::DOUBLE AND '4.0'::DOUBLE THEN TRY_CAST(("d.price" - '2.625'::DOUBLE) * '536870912.0'::DOUBLE AS INTEGER) WHEN "d.price" < '1.25'::DOUBLE THEN -738197504 WHEN "d.price" <= 'inf'::DOUBLE THEN 738197504 ELSE 0 END AS v0, CAST(coalesce("d.price" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT l.owner AS owner, "d.price" FROM (SELECT "patient_id" AS owner, "drug" AS "r.drug" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS l JOIN (SELECT "select.drug" AS "d.drug", "select.price" AS "d.price" FROM (SELECT "person.key0" AS "select.drug", "person.min0" AS "select.price" FROM (SELECT "drugs.drug" AS "person.key0", CAST(min("drugs.price") FILTER (WHERE coalesce("drugs.price" <= 'inf'::DOUBLE, FALSE)) AS DOUBLE) + 0.0 AS "person.min0" FROM (SELECT "drug" AS "drugs.drug", "price" AS "drugs.price" FROM (SELECT CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug", CASE WHEN TRY_CAST("price" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("price" AS DOUBLE) END AS "price" FROM "frame drugs")) GROUP BY "drugs.drug"))) AS r ON ("r.drug" = "d.drug"))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # A right join keeps the rows that have an owner
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM wards w RIGHT JOIN visits v ON v.ward = w.ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   wards
--   rows     left join, with public rows, on v.ward = w.ward
--   rows       all of visits as v
--   rows       all of wards as w
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT l.owner AS owner FROM (SELECT "patient_id" AS owner, "ward" AS "v.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l LEFT JOIN (SELECT "ward" AS "w.ward" FROM (SELECT CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM "frame wards")) AS r ON ("v.ward" = "w.ward"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;
