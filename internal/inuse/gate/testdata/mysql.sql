-- Statements of MySQL that would carry protected values out. Cases are divided by
-- blank lines.

TABLE employee

TABLE employee ORDER BY ssn LIMIT 1

TABLE gen

TABLE inv

SELECT * FROM inv

SELECT id, ssn FROM inv

SELECT * FROM gipk

SELECT my_row_id, ssn FROM gipk

SELECT * FROM (TABLE employee) t

SELECT name FROM dept WHERE id IN (SELECT 1 FROM (TABLE employee) t WHERE t.ssn LIKE '7%')

TABLE employee UNION ALL TABLE employee

SELECT name FROM employee UNION ALL SELECT m FROM v_lat

VALUES ROW(1, (SELECT ssn FROM employee WHERE id = 1))

VALUES ROW('x'), ROW((SELECT ssn FROM employee WHERE id = 1)) ORDER BY 1

SELECT v.column_0 FROM (VALUES ROW('x'), ROW((SELECT ssn FROM employee WHERE id = 1))) v

SELECT a FROM (VALUES ROW('x'), ROW((SELECT ssn FROM employee WHERE id = 1))) v (a)

SELECT * FROM v_lat

SELECT * FROM v_table

SELECT * FROM v_json

SELECT * FROM v_except

SELECT * FROM v_win

SELECT * FROM v_dual

SELECT data->>'$.ssn' FROM v_dual

SELECT * FROM v_values

SELECT g1, g2, g3, d1, name FROM gen

SELECT LEFT(ssn, 3) FROM gen ORDER BY LEFT(ssn, 3)

SELECT id FROM gen WHERE LEFT(ssn, 3) = '721'

SELECT id FROM gen WHERE g1 > '5'

INSERT INTO gen (id, name, ssn) VALUES (99, 'x', 'y')

UPDATE gen SET name = d1

SELECT doc->>'$.ssn' FROM js

SELECT doc->'$.ssn', tag FROM js

SELECT JSON_VALUE(doc, '$.ssn' RETURNING CHAR(20)) FROM js

SELECT id FROM js WHERE doc->>'$.ssn' > '5'

SELECT id FROM mvi WHERE '721-07-4426' MEMBER OF (doc->'$.list')

SELECT id FROM mvi WHERE JSON_OVERLAPS(doc->'$.list', CAST('["721-07-4426"]' AS JSON))

SELECT j.v FROM js, JSON_TABLE(doc, '$' COLUMNS (v VARCHAR(20) PATH '$.ssn')) j

SELECT j.v FROM js, JSON_TABLE(doc, '$.list[*]' COLUMNS (o FOR ORDINALITY, v VARCHAR(20) PATH '$')) j

SELECT j.n FROM js, JSON_TABLE(doc, '$' COLUMNS (NESTED PATH '$.list[*]' COLUMNS (n VARCHAR(20) PATH '$'))) j

SELECT d.name, t.ssn FROM dept d, LATERAL (SELECT ssn FROM employee e WHERE e.dept_id = d.id LIMIT 1) t

SELECT d.name FROM dept d, LATERAL (SELECT ssn FROM employee e WHERE e.dept_id = d.id AND ssn > '5') t

SELECT t.x FROM employee e, LATERAL (SELECT e.ssn AS x) t

SELECT t.x FROM employee e JOIN LATERAL (SELECT CONCAT(e.ssn) UNION SELECT 'b') t (x)

SELECT ssn FROM employee INTERSECT SELECT ssn FROM gen

SELECT name FROM employee EXCEPT SELECT IF(ssn > '5', name, '') FROM employee

SELECT ssn FROM employee EXCEPT ALL SELECT 'x'

(SELECT name FROM dept LIMIT 1) UNION ALL (SELECT ssn FROM employee ORDER BY id LIMIT 1)

WITH RECURSIVE n AS (SELECT 1 AS i, CAST('' AS CHAR(20)) AS s UNION ALL SELECT i + 1, (SELECT ssn FROM employee WHERE id = i) FROM n LIMIT 3) SELECT s FROM n

WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT LEFT(ssn, 1) FROM employee WHERE id = 1)) SELECT COUNT(*) FROM n

WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n LIMIT 9), s AS (SELECT n.i FROM n, employee e WHERE e.id = 1 AND SUBSTR(e.ssn, 1, 1) = n.i) SELECT i FROM s

SELECT FIRST_VALUE(ssn) OVER w, NTH_VALUE(name, 2) OVER w FROM employee WINDOW w AS (ORDER BY id)

SELECT LAG(name, 1, ssn) OVER (ORDER BY id) FROM employee

SELECT NTILE(3) OVER (ORDER BY salary) FROM employee

SELECT SUM(1) OVER (ORDER BY salary RANGE BETWEEN 1000 PRECEDING AND CURRENT ROW) FROM employee

SELECT dept_id, GROUPING(dept_id), MAX(ssn) FROM employee GROUP BY dept_id WITH ROLLUP

SELECT ssn, COUNT(*) FROM employee GROUP BY ssn WITH ROLLUP

SELECT COUNT(*) FROM employee GROUP BY LEFT(ssn, 1)

SELECT ANY_VALUE(ssn) FROM employee GROUP BY dept_id

SELECT REGEXP_SUBSTR(ssn, '[0-9]+'), REGEXP_REPLACE(ssn, '-', ''), REGEXP_INSTR(ssn, '7') FROM employee

SELECT id FROM employee WHERE REGEXP_LIKE(ssn, '^7')

SELECT id FROM employee WHERE ssn RLIKE '^7'

SELECT JSON_ARRAYAGG(ssn), JSON_OBJECTAGG(id, ssn) FROM employee

SELECT JSON_PRETTY(JSON_ARRAY(ssn)), JSON_STORAGE_SIZE(JSON_ARRAY(ssn)) FROM employee

SELECT JSON_SCHEMA_VALIDATION_REPORT('{"type": "integer"}', JSON_QUOTE(ssn)) FROM employee

SELECT STATEMENT_DIGEST_TEXT(ssn) FROM employee

SELECT STATEMENT_DIGEST_TEXT(CONCAT('SELECT ', ssn)) FROM employee

SELECT CAST(ssn AS JSON) FROM employee

SELECT CAST(CONCAT('"', ssn, '"') AS JSON) FROM employee

SELECT CAST(salary AS YEAR), CAST(ssn AS SIGNED), CAST(salary AS DOUBLE), CAST(salary AS REAL) FROM employee

SELECT UUID_TO_BIN(ssn) FROM employee

SELECT BIN_TO_UUID(CONCAT(ssn, 'xxxxx')) FROM employee WHERE id = 1

SELECT ST_GeomFromText(CONCAT('POINT(', LEFT(ssn, 1), ' 1)')) FROM employee

SELECT ST_GeomFromText(ssn) FROM employee WHERE id = 1

SELECT GTID_SUBSET(ssn, 'x') FROM employee

SELECT WAIT_FOR_EXECUTED_GTID_SET(ssn, 0) FROM employee

SELECT NAME_CONST(ssn, 1) FROM employee

SELECT /*+ SET_VAR(sql_mode = 'ANSI_QUOTES') */ "ssn" FROM employee

SELECT /*+ SET_VAR(sql_mode = 'ANSI_QUOTES') */ CONCAT(name, "ssn") FROM employee

SELECT /*+ SET_VAR(character_set_client = 'gbk') */ name FROM employee

SELECT /*!80000 ssn */ FROM employee

SELECT name /*!90704 , ssn */ FROM employee

SELECT name /*!90705 , ssn */ FROM employee

SELECT name /*!99999 , ssn */ FROM employee

SELECT name /*!50700 , ssn */ FROM employee

SELECT name /*!080000 , ssn */ FROM employee

SELECT name /*!090704 , ssn */ FROM employee

SELECT name /*!8000 , ssn */ FROM employee

SELECT CONCAT(name /*M! , ssn */) FROM employee

SELECT name /*M!100100 , ssn */ FROM employee

SELECT name FROM /*! (SELECT ssn AS name FROM employee) AS */ dept

SELECT name /*!80000 /* */ , ssn */ FROM employee

SELECT 1 --!ssn

SELECT $$ssn$$ FROM employee

SELECT $$.name, ' FROM employee $$' FROM employee AS $$

SELECT name FROM employee AS $a$ WHERE '$a$' = ssn

SELECT name FROM employee WHERE id = 1 AND $ = 1

INSERT INTO log (id, msg) VALUES (50, 'a') AS new ON DUPLICATE KEY UPDATE msg = (SELECT ssn FROM employee WHERE id = 1)

INSERT INTO log (id, msg) VALUES (1, (SELECT ssn FROM employee WHERE id = 1)) AS new ON DUPLICATE KEY UPDATE msg = new.msg

INSERT INTO log (id, msg) VALUES (1, 'x') AS employee (ssn, name) ON DUPLICATE KEY UPDATE msg = employee.name

INSERT INTO employee (id, name, ssn) VALUES (1, 'x', 'y') AS n (a, b, c) ON DUPLICATE KEY UPDATE name = ssn

INSERT INTO employee (id, name, ssn) VALUES (1, 'x', 'y') AS n (a, ssn, name) ON DUPLICATE KEY UPDATE employee.name = employee.ssn
SELECT name FROM employee WHERE id = 1

INSERT INTO employee SET id = 1, name = 'x', ssn = 'y' AS n ON DUPLICATE KEY UPDATE name = CONCAT(n.name, employee.ssn)

INSERT INTO log (id, msg) TABLE part

INSERT INTO log (id, msg) VALUES ROW(90, (SELECT ssn FROM employee WHERE id = 1))

INSERT INTO log (id, msg) SELECT t.id, t.ssn FROM (TABLE inv) t

INSERT INTO log (id, msg) SELECT dt.id, 'x' FROM (SELECT id, ssn FROM employee) AS dt ON DUPLICATE KEY UPDATE msg = dt.ssn

REPLACE INTO log (id, msg) TABLE part

UPDATE log, employee SET log.msg = employee.ssn

WITH c AS (SELECT ssn FROM employee WHERE id = 1) UPDATE log, c SET log.msg = c.ssn

WITH c AS (SELECT id FROM employee WHERE ssn > '5') DELETE FROM log WHERE id IN (SELECT id FROM c)

CREATE TABLE leak_1 AS TABLE employee

CREATE TABLE leak_2 TABLE employee

CREATE TEMPORARY TABLE leak_3 AS SELECT t.a FROM (VALUES ROW((SELECT ssn FROM employee WHERE id = 1))) t (a)

CREATE TABLE leak_4 LIKE employee

CREATE TABLE leak_5 (a INT, b VARCHAR(20) DEFAULT (SLEEP(1)))

CREATE TEMPORARY TABLE t (id INT, ssn VARCHAR(20))
SELECT * FROM t

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(20))
TABLE employee

SELECT ssn INTO @a FROM employee WHERE id = 1
SELECT @a

SELECT ssn FROM employee WHERE id = 1 INTO @a
SELECT @a

SELECT name INTO @a FROM employee WHERE ssn > '5' LIMIT 1
SELECT @a

TABLE employee INTO OUTFILE '/tmp/veil_x'

SELECT ssn FROM employee INTO DUMPFILE '/tmp/veil_x'

EXPLAIN SELECT name FROM employee WHERE ssn = '721-07-4426'

EXPLAIN FORMAT=TREE SELECT name FROM employee WHERE ssn > '5'

EXPLAIN FORMAT=JSON SELECT name FROM employee WHERE ssn > '5'

EXPLAIN FORMAT=JSON INTO @x SELECT name FROM dept
SELECT @x

EXPLAIN FORMAT=JSON INTO @x SELECT ssn FROM employee WHERE id = 1
SELECT @x

EXPLAIN ANALYZE SELECT name FROM employee WHERE ssn > '5'

EXPLAIN ANALYZE SELECT name FROM dept

EXPLAIN FORMAT=TREE FOR SCHEMA hr SELECT ssn FROM employee

EXPLAIN FOR CONNECTION 1

DESC FORMAT=TREE SELECT ssn FROM employee WHERE id = 1

SELECT * FROM information_schema.COLUMN_STATISTICS

SELECT HISTOGRAM FROM information_schema.column_statistics WHERE TABLE_NAME = 'employee'

SELECT TABLE_ROWS FROM information_schema.PARTITIONS WHERE TABLE_NAME = 'part'

SELECT PARTITION_NAME, TABLE_ROWS > 0 FROM information_schema.PARTITIONS WHERE TABLE_NAME = 'part' AND TABLE_ROWS > 1

SELECT SQL_TEXT FROM performance_schema.events_statements_history

SELECT * FROM performance_schema.data_locks

SELECT * FROM performance_schema.events_statements_current

SELECT * FROM performance_schema.session_status

SELECT * FROM performance_schema.prepared_statements_instances

SELECT * FROM performance_schema.user_variables_by_thread

SELECT * FROM performance_schema.processlist

SELECT * FROM performance_schema.error_log

SELECT * FROM sys.session

SELECT * FROM sys.x$statement_analysis

SELECT * FROM mysql.innodb_table_stats

SELECT * FROM information_schema.INNODB_TABLESTATS

SELECT * FROM information_schema.INNODB_BUFFER_PAGE LIMIT 1

SELECT * FROM information_schema.PROCESSLIST

SELECT * FROM information_schema.OPTIMIZER_TRACE

SET optimizer_trace = 'enabled=on'
SELECT name FROM employee WHERE ssn = (SELECT ssn FROM employee WHERE id = 1)
SELECT TRACE FROM information_schema.OPTIMIZER_TRACE

SET SESSION session_track_gtids = OWN_GTID

SET resultset_metadata = NONE

SET PERSIST sql_mode = ''

SET PERSIST_ONLY sql_mode = ''

SET @@GLOBAL.sql_mode = ''

SET RESOURCE GROUP USR_default

SET ROLE ALL

SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'
SELECT CONCAT('x\', ssn, '') FROM employee

SET NAMES gbk

SET character_set_client = 'sjis'

SET SESSION init_connect = 'x'

SHOW PARSE_TREE SELECT ssn FROM employee

SHOW PROFILES

SHOW STATUS LIKE 'Last_query_cost'

SHOW BINARY LOG STATUS

SHOW REPLICA STATUS

SHOW ENGINE PERFORMANCE_SCHEMA STATUS

SHOW COLUMNS FROM employee WHERE Field IN (TABLE part)

SHOW TABLES WHERE Tables_in_hr IN (SELECT IF(ssn > '5', 'log', 'dept') FROM employee)

SHOW TABLE STATUS WHERE Name = (VALUES ROW('x'))

SHOW STATUS WHERE Variable_name = 'Handler_read_rnd_next'

CALL sys.execute_prepared_stmt('SELECT ssn FROM hr.employee')

CALL sys.table_exists('hr', 'employee', @e)

SELECT sys.format_statement(ssn) FROM employee

SELECT sys.extract_schema_from_file_name(ssn) FROM employee

SELECT mysql_query_attribute_string('a')

SELECT LOAD_FILE('/etc/passwd')

SELECT MASTER_POS_WAIT('x', 1), SOURCE_POS_WAIT('x', 1)

SELECT IS_VISIBLE_DD_OBJECT('a', 'b', 0)

SELECT GET_DD_COLUMN_PRIVILEGES('a', 'b', ssn) FROM employee

SELECT INTERNAL_TABLE_ROWS('hr', 'employee', 'InnoDB', 0, 0, '', '', '', '')

SELECT PS_THREAD_ID(CONNECTION_ID())

SELECT VECTOR_TO_STRING(STRING_TO_VECTOR(CONCAT('[', LEFT(ssn, 1), ']'))) FROM employee

GET DIAGNOSTICS @n = NUMBER

HANDLER employee OPEN

IMPORT TABLE FROM '/tmp/x.sdi'

CLONE LOCAL DATA DIRECTORY = '/tmp/x'

ALTER TABLE employee ADD COLUMN leak VARCHAR(20) AS (ssn)

ALTER TABLE employee ALTER COLUMN ssn SET INVISIBLE

CREATE VIEW leak_v AS TABLE employee

CREATE FUNCTION leak_f(x INT) RETURNS INT LANGUAGE JAVASCRIPT AS $$ return 1 $$

LOCK INSTANCE FOR BACKUP

XA START 'a'

XA RECOVER

ANALYZE TABLE employee UPDATE HISTOGRAM ON ssn

ANALYZE TABLE employee DROP HISTOGRAM ON ssn

CHECKSUM TABLE employee

SELECT name FROM employee FOR UPDATE OF employee NOWAIT

SELECT ssn FROM employee PARTITION (p0)

SELECT id FROM part PARTITION (p0)

SELECT id FROM part USE INDEX (PRIMARY)

SELECT name, ssn FROM employee GROUP BY name, ssn WITH ROLLUP HAVING GROUPING(ssn) = 0

SELECT id FROM employee QUALIFY ROW_NUMBER() OVER (ORDER BY salary) = 1

SELECT * FROM employee TABLESAMPLE BERNOULLI (50)

SELECT (SELECT ssn FROM employee WHERE id = 1) AS a, name FROM employee HAVING a > '5'

SELECT name FROM employee ORDER BY (SELECT e.ssn FROM employee e WHERE e.id = employee.id)

SELECT name AS ssn FROM employee GROUP BY ssn

SELECT name FROM employee WHERE (ssn, id) = ROW('721-07-4426', 1)

SELECT name FROM employee WHERE ssn = ANY (VALUES ROW('721-07-4426'))

SELECT name FROM employee WHERE ssn IN (VALUES ROW('721-07-4426'), ROW('x'))

SELECT name FROM employee WHERE ssn IN (TABLE gipk)

SELECT EXISTS (TABLE employee)

SELECT EXISTS (SELECT 1 FROM employee WHERE ssn > '5')

SELECT COUNT(DISTINCT ssn, name) FROM employee

SELECT BIT_AND(ssn), BIT_XOR(CAST(ssn AS BINARY)) FROM employee

SELECT HEX(ssn | X'00') FROM employee

SELECT INSERT(name, 1, 0, ssn), ELT(1, ssn), MAKE_SET(1, ssn), EXPORT_SET(salary, 'y', 'n') FROM employee

SELECT CHAR(salary USING utf8mb4), CONV(salary, 10, 36), FORMAT(salary, 2, 'de_DE') FROM employee

SELECT AES_ENCRYPT(ssn, 'k'), SHA2(ssn, 256), RANDOM_BYTES(LENGTH(ssn)) FROM employee

SELECT VALIDATE_PASSWORD_STRENGTH(ssn) FROM employee

SELECT DATE_ADD(hired, INTERVAL salary DAY), TIMESTAMPDIFF(DAY, hired, notes) FROM employee

SELECT AVG(salary) AS ssn, name AS salary FROM employee GROUP BY name

SELECT name MEMBER OF (JSON_ARRAY(ssn)) FROM employee

SELECT MATCH (notes) AGAINST ('x') FROM employee

DESC TABLE employee

DESCRIBE TABLE employee

EXPLAIN TABLE employee

DESC VALUES ROW((SELECT ssn FROM employee WHERE id = 1))

-- constraints that depend on protected values
UPDATE IGNORE cap SET hi = 75000
SELECT id, hi FROM cap

UPDATE cap SET hi = 75000 WHERE id = 1

UPDATE IGNORE cap SET note = 'it''s'
SELECT id, note FROM cap

INSERT INTO cap (id, pay, hi) VALUES (1, 5, 6) AS n ON DUPLICATE KEY UPDATE hi = 75000
SELECT id, hi FROM cap

INSERT INTO cap (id, pay, hi) VALUES (1, 5, 6) AS n ON DUPLICATE KEY UPDATE hi = 75000, pay = n.pay
SELECT id, hi FROM cap

INSERT IGNORE INTO cap (id, pay, hi) SELECT id + 10, pay, 75000 FROM cap
SELECT id, hi FROM cap

UPDATE IGNORE capf SET hi = 75000
SELECT id, hi FROM capf

-- names of stored functions
SELECT median(1), COUNT(*) FROM dept

SELECT COUNT(*), MAX(id), upper (name) FROM dept

SELECT COUNT (id) FROM dept

SELECT `count`(id) FROM dept
