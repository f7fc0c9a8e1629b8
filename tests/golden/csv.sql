-- orders: a CSV file. Columns are text; each is read as its declared kind, and is NULL where that fails.

-- # Orders
-- loss: epsilon 1
SELECT COUNT(*) FROM orders;

-- plan
--   table    orders: client; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of orders
--   bound    a person counts for at most 2 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 2; Laplace, scale 2; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "client" AS owner FROM (SELECT CASE WHEN strlen(TRY_CAST("client" AS VARCHAR)) <= 65536 THEN TRY_CAST("client" AS VARCHAR) COLLATE "C" END AS "client" FROM (SELECT CASE WHEN starts_with(f[1], '"') THEN replace(f[1][2:-2], '""', '"') ELSE nullif(f[1], '') END AS "client", CASE WHEN starts_with(f[2], '"') THEN replace(f[2][2:-2], '""', '"') ELSE nullif(f[2], '') END AS "item", CASE WHEN starts_with(f[3], '"') THEN replace(f[3][2:-2], '""', '"') ELSE nullif(f[3], '') END AS "price", CASE WHEN starts_with(f[4], '"') THEN replace(f[4][2:-2], '""', '"') ELSE nullif(f[4], '') END AS "pieces", CASE WHEN starts_with(f[5], '"') THEN replace(f[5][2:-2], '""', '"') ELSE nullif(f[5], '') END AS "sent", CASE WHEN starts_with(f[6], '"') THEN replace(f[6][2:-2], '""', '"') ELSE nullif(f[6], '') END AS "gift", CASE WHEN starts_with(f[7], '"') THEN replace(f[7][2:-2], '""', '"') ELSE nullif(f[7], '') END AS "order total" FROM (SELECT line, regexp_extract_all(line || ',', '("(?:[^"]|"")*"|[^",]*),', 1) AS f FROM read_csv('/data/orders.csv', columns = {'line': 'VARCHAR'}, delim = '', quote = '', escape = '', header = false, auto_detect = false, ignore_errors = true, strict_mode = false, skip = 1)) WHERE len(f) = 7 AND array_to_string(f, ',') = line)) WHERE "client" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 2097152 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # The price is cast and clamped to 99.99, which no double holds exactly
-- loss: epsilon 1
SELECT SUM(price) FROM orders;

-- plan
--   table    orders: client; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of orders
--   bound    a person counts for at most 2 rows, and as a person in at most 1 group
--   [0]      sum of price in [0, about 99.99]; one integer is 1/8796093022208; moves by L1 419388457/2097152; Laplace, scale 419388457/2097152; epsilon 1
--   value 1  SUM(price) = 1/8796093022208 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "price" BETWEEN '0.0'::DOUBLE AND '99.99000000000001'::DOUBLE THEN TRY_CAST("price" * '8388608.0'::DOUBLE AS INTEGER) WHEN "price" < '0.0'::DOUBLE THEN 0 WHEN "price" <= 'inf'::DOUBLE THEN 838776914 ELSE 0 END AS v0, "client" AS owner FROM (SELECT CASE WHEN strlen(TRY_CAST("client" AS VARCHAR)) <= 65536 THEN TRY_CAST("client" AS VARCHAR) COLLATE "C" END AS "client", CASE WHEN TRY_CAST("price" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("price" AS DOUBLE) END AS "price" FROM (SELECT CASE WHEN starts_with(f[1], '"') THEN replace(f[1][2:-2], '""', '"') ELSE nullif(f[1], '') END AS "client", CASE WHEN starts_with(f[2], '"') THEN replace(f[2][2:-2], '""', '"') ELSE nullif(f[2], '') END AS "item", CASE WHEN starts_with(f[3], '"') THEN replace(f[3][2:-2], '""', '"') ELSE nullif(f[3], '') END AS "price", CASE WHEN starts_with(f[4], '"') THEN replace(f[4][2:-2], '""', '"') ELSE nullif(f[4], '') END AS "pieces", CASE WHEN starts_with(f[5], '"') THEN replace(f[5][2:-2], '""', '"') ELSE nullif(f[5], '') END AS "sent", CASE WHEN starts_with(f[6], '"') THEN replace(f[6][2:-2], '""', '"') ELSE nullif(f[6], '') END AS "gift", CASE WHEN starts_with(f[7], '"') THEN replace(f[7][2:-2], '""', '"') ELSE nullif(f[7], '') END AS "order total" FROM (SELECT line, regexp_extract_all(line || ',', '("(?:[^"]|"")*"|[^",]*),', 1) AS f FROM read_csv('/data/orders.csv', columns = {'line': 'VARCHAR'}, delim = '', quote = '', escape = '', header = false, auto_detect = false, ignore_errors = true, strict_mode = false, skip = 1)) WHERE len(f) = 7 AND array_to_string(f, ',') = line)) WHERE "client" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 2097152 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Whole numbers, dates and conditions are cast too
-- loss: epsilon 1
SELECT pieces, COUNT(*) FROM orders WHERE sent > '2026-01-01' AND gift GROUP BY pieces;

-- plan
--   table    orders: client; add-remove; a change moves 1 vector; epsilon 1
--   rows     where sent > '2026-01-01' AND gift
--   rows       all of orders
--   bound    a person counts for at most 2 rows, and as a person in at most 2 groups
--   keys     pieces: 2 declared: 1, 2
--   by       (pieces): 2 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 2; Laplace, scale 2; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('[1, 2]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "pieces" AS k0, "client" AS owner FROM (SELECT CASE WHEN strlen(TRY_CAST("client" AS VARCHAR)) <= 65536 THEN TRY_CAST("client" AS VARCHAR) COLLATE "C" END AS "client", TRY_CAST("pieces" AS BIGINT) AS "pieces", CASE WHEN TRY_CAST("sent" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("sent" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "sent", TRY_CAST("gift" AS BOOLEAN) AS "gift" FROM (SELECT CASE WHEN starts_with(f[1], '"') THEN replace(f[1][2:-2], '""', '"') ELSE nullif(f[1], '') END AS "client", CASE WHEN starts_with(f[2], '"') THEN replace(f[2][2:-2], '""', '"') ELSE nullif(f[2], '') END AS "item", CASE WHEN starts_with(f[3], '"') THEN replace(f[3][2:-2], '""', '"') ELSE nullif(f[3], '') END AS "price", CASE WHEN starts_with(f[4], '"') THEN replace(f[4][2:-2], '""', '"') ELSE nullif(f[4], '') END AS "pieces", CASE WHEN starts_with(f[5], '"') THEN replace(f[5][2:-2], '""', '"') ELSE nullif(f[5], '') END AS "sent", CASE WHEN starts_with(f[6], '"') THEN replace(f[6][2:-2], '""', '"') ELSE nullif(f[6], '') END AS "gift", CASE WHEN starts_with(f[7], '"') THEN replace(f[7][2:-2], '""', '"') ELSE nullif(f[7], '') END AS "order total" FROM (SELECT line, regexp_extract_all(line || ',', '("(?:[^"]|"")*"|[^",]*),', 1) AS f FROM read_csv('/data/orders.csv', columns = {'line': 'VARCHAR'}, delim = '', quote = '', escape = '', header = false, auto_detect = false, ignore_errors = true, strict_mode = false, skip = 1)) WHERE len(f) = 7 AND array_to_string(f, ',') = line)) WHERE "client" IS NOT NULL AND (("sent" > DATE '2026-01-01') AND "gift")),
weights AS (SELECT owner, CAST(least(1048576, 2097152 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A column with a space in its name
-- loss: epsilon 1
SELECT item, AVG("order total") FROM orders GROUP BY item;

-- plan
--   table    orders: client; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of orders
--   bound    a person counts for at most 2 rows, and as a person in at most 2 groups
--   keys     item: 2 declared: pen, ink
--   by       (item): 2 groups
--   [0]      sum of order total in [-50, 50]; one integer is 1/17592186044416, 1 times; moves by L1 100; joint noise of 2, scale 100; epsilon 1
--   [1]      rows with order total; one integer is 1/1048576, 838860800 times; moves by L1 2; joint noise of 2, scale 2; epsilon 1
--   value 1  AVG(order total) = (1/17592186044416 x [0]) / (1/879609302220800 x [1]), kept in [-50, 50]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["pen", "ink"]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "item" AS k0, CASE WHEN "order total" BETWEEN '-50.0'::DOUBLE AND '50.0'::DOUBLE THEN TRY_CAST("order total" * '16777216.0'::DOUBLE AS INTEGER) WHEN "order total" < '-50.0'::DOUBLE THEN -838860800 WHEN "order total" <= 'inf'::DOUBLE THEN 838860800 ELSE 0 END AS v0, CAST(coalesce("order total" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "client" AS owner FROM (SELECT CASE WHEN strlen(TRY_CAST("client" AS VARCHAR)) <= 65536 THEN TRY_CAST("client" AS VARCHAR) COLLATE "C" END AS "client", CASE WHEN strlen(TRY_CAST("item" AS VARCHAR)) <= 65536 THEN TRY_CAST("item" AS VARCHAR) COLLATE "C" END AS "item", CASE WHEN TRY_CAST("order total" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("order total" AS DOUBLE) END AS "order total" FROM (SELECT CASE WHEN starts_with(f[1], '"') THEN replace(f[1][2:-2], '""', '"') ELSE nullif(f[1], '') END AS "client", CASE WHEN starts_with(f[2], '"') THEN replace(f[2][2:-2], '""', '"') ELSE nullif(f[2], '') END AS "item", CASE WHEN starts_with(f[3], '"') THEN replace(f[3][2:-2], '""', '"') ELSE nullif(f[3], '') END AS "price", CASE WHEN starts_with(f[4], '"') THEN replace(f[4][2:-2], '""', '"') ELSE nullif(f[4], '') END AS "pieces", CASE WHEN starts_with(f[5], '"') THEN replace(f[5][2:-2], '""', '"') ELSE nullif(f[5], '') END AS "sent", CASE WHEN starts_with(f[6], '"') THEN replace(f[6][2:-2], '""', '"') ELSE nullif(f[6], '') END AS "gift", CASE WHEN starts_with(f[7], '"') THEN replace(f[7][2:-2], '""', '"') ELSE nullif(f[7], '') END AS "order total" FROM (SELECT line, regexp_extract_all(line || ',', '("(?:[^"]|"")*"|[^",]*),', 1) AS f FROM read_csv('/data/orders.csv', columns = {'line': 'VARCHAR'}, delim = '', quote = '', escape = '', header = false, auto_detect = false, ignore_errors = true, strict_mode = false, skip = 1)) WHERE len(f) = 7 AND array_to_string(f, ',') = line)) WHERE "client" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 2097152 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
