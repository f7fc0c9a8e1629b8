-- EXISTS and IN: within one owner, or against public rows.

-- # Patients with a prescription
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM prescriptions r WHERE r.patient_id = p.patient_id);

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     rows that have a partner, within each owner, on r.patient_id = p.patient_id
--   rows       all of patients as p
--   rows       all of prescriptions as r
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner FROM (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS s SEMI JOIN (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS o ON s.owner = o.owner AND ("r.patient_id" = "p.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Patients without one: they may appear when a prescription goes
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM patients p WHERE NOT EXISTS (SELECT 1 FROM prescriptions r WHERE r.patient_id = p.patient_id);

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     where NOT found.1
--   rows       found.1 says whether there is a partner, within each owner, on r.patient_id = p.patient_id
--   rows         all of patients as p
--   rows         all of prescriptions as r
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner, EXISTS (SELECT 1 FROM (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS o WHERE s.owner = o.owner AND ("r.patient_id" = "p.patient_id")) AS "found.1" FROM (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS s) WHERE (NOT "found.1")),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # IN a subquery of the unit
-- loss: epsilon 1
SELECT ward, COUNT(*) AS n FROM visits WHERE patient_id IN (SELECT patient_id FROM prescriptions WHERE dose > 20) GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     rows that have a partner, within each owner, on visits.patient_id = prescriptions.patient_id
--   rows       all of visits as visits
--   rows       where prescriptions.dose > 20
--   rows         all of prescriptions as prescriptions
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     visits.ward: 4 declared: A, B, it's, NULL
--   by       (visits.ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "visits.ward" AS k0, owner FROM (SELECT s.owner AS owner, "visits.ward" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "ward" AS "visits.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS s SEMI JOIN (SELECT owner AS owner, "prescriptions.patient_id" FROM (SELECT "patient_id" AS owner, "patient_id" AS "prescriptions.patient_id", "dose" AS "prescriptions.dose" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("dose" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("dose" AS DOUBLE) END AS "dose" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) WHERE ("prescriptions.dose" > '20.0'::DOUBLE)) AS o ON s.owner = o.owner AND ("visits.patient_id" = "prescriptions.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # NOT IN a subquery of the unit
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits);

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     where NOT CASE WHEN patients.patient_id IS NULL THEN NULL ELSE found.1 END
--   rows       found.1 says whether there is a partner, within each owner, on patients.patient_id = visits.patient_id
--   rows         all of patients as patients
--   rows         all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner, "patients.patient_id", EXISTS (SELECT 1 FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS o WHERE s.owner = o.owner AND ("patients.patient_id" = "visits.patient_id")) AS "found.1" FROM (SELECT "patient_id" AS owner, "patient_id" AS "patients.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS s) WHERE (NOT CASE WHEN ("patients.patient_id" IS NULL) THEN NULL ELSE "found.1" END)),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # EXISTS with a condition between the rows
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM prescriptions r WHERE r.patient_id = v.patient_id AND r.dose < v.age);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     rows that have a partner, within each owner, on r.patient_id = v.patient_id AND r.dose < v.age
--   rows       at most 1140 rows of each owner
--   rows         all of visits as v
--   rows       at most 912 rows of each owner
--   rows         all of prescriptions as r
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "age" AS "v.age" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1140) SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", r."v.age" AS "v.age" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "v.patient_id", "v.age" FROM (SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", r."v.age" AS "v.age", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."v.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."v.age" AS VARCHAR), '')), r."v.patient_id", r."v.age") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1140) AS s SEMI JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id", "dose" AS "r.dose" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("dose" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("dose" AS DOUBLE) END AS "dose" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 912) SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id", r."r.dose" AS "r.dose" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "r.patient_id", "r.dose" FROM (SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id", r."r.dose" AS "r.dose", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."r.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."r.dose" AS VARCHAR), '')), r."r.patient_id", r."r.dose") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 912) AS o ON s.owner = o.owner AND (("r.patient_id" = "v.patient_id") AND ("r.dose" < CAST("v.age" AS DOUBLE))))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # EXISTS as a value
-- loss: epsilon 1
SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM prescriptions r WHERE r.patient_id = p.patient_id) THEN 1 ELSE 0 END) AS n FROM patients p;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     found.1 says whether there is a partner, within each owner, on r.patient_id = p.patient_id
--   rows       all of patients as p
--   rows       all of prescriptions as r
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of CASE WHEN found.1 THEN 1 ELSE 0 END in [0, 1]; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  SUM(CASE WHEN found.1 THEN 1 ELSE 0 END) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT (CAST(greatest(least(CAST(CASE WHEN "found.1" THEN 1 ELSE 0 END AS DOUBLE), '1.0'::DOUBLE), '0.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(CASE WHEN "found.1" THEN 1 ELSE 0 END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, owner FROM (SELECT s.owner AS owner, EXISTS (SELECT 1 FROM (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS o WHERE s.owner = o.owner AND ("r.patient_id" = "p.patient_id")) AS "found.1" FROM (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS s)),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # IN a public table
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM prescriptions WHERE drug IN (SELECT drug FROM drugs WHERE price < 2);

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   drugs
--   rows     rows that have a partner, with public rows, on prescriptions.drug = drugs.drug
--   rows       all of prescriptions as prescriptions
--   rows       where drugs.price < 2
--   rows         all of drugs as drugs
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner FROM (SELECT "patient_id" AS owner, "drug" AS "prescriptions.drug" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS s SEMI JOIN (SELECT "drugs.drug" FROM (SELECT "drug" AS "drugs.drug", "price" AS "drugs.price" FROM (SELECT CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug", CASE WHEN TRY_CAST("price" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("price" AS DOUBLE) END AS "price" FROM "frame drugs")) WHERE ("drugs.price" < '2.0'::DOUBLE)) AS o ON ("prescriptions.drug" = "drugs.drug"))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # NOT IN a public table
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM prescriptions WHERE drug NOT IN (SELECT drug FROM drugs);

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   drugs
--   rows     where NOT CASE WHEN prescriptions.drug IS NULL THEN NULL ELSE found.1 END
--   rows       found.1 says whether there is a partner, with public rows, on prescriptions.drug = drugs.drug
--   rows         all of prescriptions as prescriptions
--   rows         all of drugs as drugs
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner, "prescriptions.drug", EXISTS (SELECT 1 FROM (SELECT "drug" AS "drugs.drug" FROM (SELECT CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame drugs")) AS o WHERE ("prescriptions.drug" = "drugs.drug")) AS "found.1" FROM (SELECT "patient_id" AS owner, "drug" AS "prescriptions.drug" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS s) WHERE (NOT CASE WHEN ("prescriptions.drug" IS NULL) THEN NULL ELSE "found.1" END)),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Patients who came twice, by IN
-- loss: epsilon 1
SELECT sex, COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > 1) GROUP BY sex;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     rows that have a partner, within each owner, on patients.patient_id = select.patient_id
--   rows       all of patients as patients
--   rows       columns select.patient_id = person.key0
--   rows         where person.count0 > 1
--   rows           one row per owner and person.key0 = visits.patient_id; person.count0 = COUNT(*) in [0, 5]
--   rows             all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     patients.sex: 3 declared: f, m, NULL
--   by       (patients.sex): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "patients.sex" AS k0, owner FROM (SELECT s.owner AS owner, "patients.sex" FROM (SELECT "patient_id" AS owner, "patient_id" AS "patients.patient_id", "sex" AS "patients.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS s SEMI JOIN (SELECT owner AS owner, "person.key0" AS "select.patient_id" FROM (SELECT owner AS owner, "person.key0" FROM (SELECT owner AS owner, "visits.patient_id" AS "person.key0", CAST(least(count(*), 5) AS DOUBLE) AS "person.count0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id") WHERE ("person.count0" > '1.0'::DOUBLE))) AS o ON s.owner = o.owner AND ("patients.patient_id" = "select.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Groups by whether there is a prescription
-- loss: epsilon 1
SELECT treated, COUNT(*) AS n FROM (SELECT p.patient_id, EXISTS (SELECT 1 FROM prescriptions r WHERE r.patient_id = p.patient_id) AS treated FROM patients p) AS t GROUP BY treated;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 0.5
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.treated = select.treated
--   rows       columns select.patient_id = p.patient_id, select.treated = found.1
--   rows         found.1 says whether there is a partner, within each owner, on r.patient_id = p.patient_id
--   rows           all of patients as p
--   rows           all of prescriptions as r
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     t.treated: 3 enumerated: TRUE, FALSE, NULL
--   by       (t.treated): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 2; Laplace, scale 2; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[True, False, NULL]'::BOOLEAN[]) AS value),
contributions AS MATERIALIZED (SELECT "t.treated" AS k0, owner FROM (SELECT owner AS owner, "select.treated" AS "t.treated" FROM (SELECT owner AS owner, "found.1" AS "select.treated" FROM (SELECT s.owner AS owner, EXISTS (SELECT 1 FROM (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS o WHERE s.owner = o.owner AND ("r.patient_id" = "p.patient_id")) AS "found.1" FROM (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS s)))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
