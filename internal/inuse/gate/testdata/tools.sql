-- What tools send through an account like any other: dumps, consoles, reports,
-- migrations. A line "-- name" begins those of another, on a connection of its own.

-- mariadb-dump, mysqldump
/*!40100 SET @@SQL_MODE='' */
/*!40103 SET TIME_ZONE='+00:00' */
/*!80000 SET SESSION information_schema_stats_expiry=0 */
SET SESSION NET_READ_TIMEOUT= 86400, SESSION NET_WRITE_TIMEOUT= 86400
SELECT @@character_set_server, @@collation_server
SHOW VARIABLES LIKE 'gtid\_mode'
SHOW VARIABLES LIKE 'ndbinfo\_version'
SELECT LOGFILE_GROUP_NAME, FILE_NAME, TOTAL_EXTENTS, INITIAL_SIZE, ENGINE, EXTRA FROM INFORMATION_SCHEMA.FILES WHERE ENGINE = 'ndbcluster' AND FILE_TYPE = 'UNDO LOG' AND FILE_NAME IS NOT NULL GROUP BY LOGFILE_GROUP_NAME, FILE_NAME, ENGINE, TOTAL_EXTENTS, INITIAL_SIZE ORDER BY LOGFILE_GROUP_NAME
SELECT DISTINCT TABLESPACE_NAME, FILE_NAME, LOGFILE_GROUP_NAME, EXTENT_SIZE, INITIAL_SIZE, ENGINE FROM INFORMATION_SCHEMA.FILES WHERE FILE_TYPE = 'DATAFILE' ORDER BY TABLESPACE_NAME, LOGFILE_GROUP_NAME
START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ
USE `shop`
SHOW CREATE DATABASE IF NOT EXISTS `shop`
show tables
SHOW TABLES LIKE 'users'
LOCK TABLES `users` READ /*!32311 LOCAL */,`orders` READ /*!32311 LOCAL */
show table status like 'users'
UNLOCK TABLES
SET SQL_QUOTE_SHOW_CREATE=1
SET SESSION character_set_results = 'binary'
show create table `users`
SET SESSION character_set_results = 'utf8mb4'
show fields from `users`
show index from `users`
SELECT `COLUMN_NAME` AS `Field`, `COLUMN_TYPE` AS `Type`, `IS_NULLABLE` AS `Null`, `COLUMN_KEY` AS `Key`, `COLUMN_DEFAULT` AS `Default`, `EXTRA` AS `Extra`, `COLUMN_COMMENT` AS `Comment` FROM `information_schema`.`COLUMNS` WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'users'
SELECT /*!40001 SQL_NO_CACHE */ * FROM `users`
SELECT /*!40001 SQL_NO_CACHE */ `id`, `email`, `phone` FROM `users` WHERE 1 limit 10
SHOW TRIGGERS LIKE 'users'
SHOW CREATE TRIGGER `users_made`
select @@collation_database
SELECT engine FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'users'
show events
SHOW CREATE EVENT `tidy`
SHOW FUNCTION STATUS WHERE Db = 'shop'
SHOW CREATE FUNCTION `twice`
SHOW PROCEDURE STATUS WHERE Db = 'shop'
SHOW CREATE PROCEDURE `sweep`
[mariadb] SHOW PACKAGE STATUS WHERE Db = 'shop'
[mariadb] SHOW PACKAGE BODY STATUS WHERE Db = 'shop'
SELECT COLUMN_NAME, EXTRA FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA='shop' AND TABLE_NAME='users' AND EXTRA LIKE '%INVISIBLE%'
show create table `company_users`
SHOW CREATE VIEW `company_users`
SHOW COLUMNS FROM `company_users`
SET SESSION character_set_results = 'utf8mb3'
[mariadb] SHOW CREATE SEQUENCE `numbers`
COMMIT

-- HeidiSQL
SELECT CONNECTION_ID()
SELECT 1
/*!40101 SET NAMES utf8mb4 */
SHOW VARIABLES
SHOW /*!50002 GLOBAL */ STATUS
SHOW /*!50002 GLOBAL */ STATUS LIKE 'Com\_%'
SELECT NOW()
SHOW DATABASES
SHOW OPEN TABLES FROM `shop` WHERE `in_use`!=0
SELECT CURRENT_USER()
SHOW GRANTS FOR CURRENT_USER()
USE `shop`
SELECT `DEFAULT_COLLATION_NAME` FROM `information_schema`.`SCHEMATA` WHERE `SCHEMA_NAME`='shop'
SHOW TABLE STATUS FROM `shop`
SHOW FUNCTION STATUS WHERE `Db`='shop'
SHOW PROCEDURE STATUS WHERE `Db`='shop'
SHOW TRIGGERS FROM `shop`
SELECT *, EVENT_SCHEMA AS `Db`, EVENT_NAME AS `Name` FROM information_schema.`EVENTS` WHERE `EVENT_SCHEMA`='shop'
SELECT * FROM `information_schema`.`COLUMNS` WHERE TABLE_SCHEMA='shop' AND TABLE_NAME='users' ORDER BY ORDINAL_POSITION
SHOW INDEXES FROM `users` FROM `shop`
SELECT * FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA='shop' AND TABLE_NAME='users' AND REFERENCED_TABLE_NAME IS NOT NULL
SELECT * FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA='shop' AND TABLE_NAME='users' AND REFERENCED_TABLE_NAME IS NOT NULL
[mariadb] SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM `information_schema`.`CHECK_CONSTRAINTS` WHERE CONSTRAINT_SCHEMA='shop' AND TABLE_NAME='users'
SHOW CREATE TABLE `shop`.`users`
SHOW COLLATION
SHOW ENGINES
SELECT `id`, `name`, `email`, `phone` FROM `shop`.`users` LIMIT 1000
SELECT `id`, `name`, LEFT(`email`, 256), `phone` FROM `shop`.`users` LIMIT 1000
SHOW TABLE STATUS LIKE 'users'
SELECT * FROM `shop`.`users` ORDER BY `id` ASC LIMIT 1000
SELECT COUNT(*) FROM `shop`.`users`
SELECT * FROM `information_schema`.`TABLES` WHERE `TABLE_SCHEMA`='shop'
SELECT `id`, `email` FROM `shop`.`users` WHERE  `id`=1
UPDATE `shop`.`users` SET `name`='Alf' WHERE  `id`=1

-- DBeaver
SET SESSION lock_wait_timeout=60
SET SQL_SELECT_LIMIT=200
SET SQL_SELECT_LIMIT=DEFAULT
SHOW ENGINES
SHOW CHARSET
SHOW COLLATION
SELECT DATABASE()
SHOW DATABASES
show databases
SELECT * FROM INFORMATION_SCHEMA.SCHEMATA
SHOW PLUGINS
SHOW PRIVILEGES
SELECT @@GLOBAL.character_set_server,@@GLOBAL.collation_server
SHOW FULL TABLES FROM `shop`
SHOW TABLE STATUS FROM `shop`
SHOW TABLE STATUS FROM `shop` LIKE 'users'
SHOW FULL COLUMNS FROM `shop`.`users`
SELECT * FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA='shop' AND TABLE_NAME='users' ORDER BY ORDINAL_POSITION
SELECT * FROM INFORMATION_SCHEMA.STATISTICS WHERE TABLE_SCHEMA='shop' AND TABLE_NAME='users' ORDER BY TABLE_NAME,INDEX_NAME,SEQ_IN_INDEX
SELECT kc.CONSTRAINT_NAME,kc.TABLE_NAME,kc.COLUMN_NAME,kc.ORDINAL_POSITION FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE kc WHERE kc.TABLE_SCHEMA='shop' AND kc.REFERENCED_TABLE_NAME IS NULL AND kc.TABLE_NAME='users' ORDER BY kc.CONSTRAINT_NAME,kc.ORDINAL_POSITION
SELECT cc.CONSTRAINT_NAME, cc.CHECK_CLAUSE, tc.TABLE_NAME FROM (SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA='shop' ORDER BY CONSTRAINT_NAME) cc, (SELECT TABLE_NAME, CONSTRAINT_NAME FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA='shop' AND TABLE_NAME='users') tc WHERE cc.CONSTRAINT_NAME = tc.CONSTRAINT_NAME
SELECT * FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_SCHEMA='shop' ORDER BY ROUTINE_NAME
SELECT * FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_SCHEMA='shop' AND ROUTINE_TYPE IN ('FUNCTION','PROCEDURE') ORDER BY ROUTINE_NAME
SELECT * FROM INFORMATION_SCHEMA.PARAMETERS WHERE SPECIFIC_SCHEMA='shop' ORDER BY SPECIFIC_NAME, ORDINAL_POSITION
SELECT * FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA='shop' ORDER BY TRIGGER_NAME
SELECT * FROM INFORMATION_SCHEMA.EVENTS WHERE EVENT_SCHEMA='shop'
SELECT * FROM INFORMATION_SCHEMA.PARTITIONS WHERE TABLE_SCHEMA='shop' AND TABLE_NAME='users' ORDER BY PARTITION_ORDINAL_POSITION, SUBPARTITION_ORDINAL_POSITION
SELECT * FROM INFORMATION_SCHEMA.VIEWS WHERE TABLE_SCHEMA='shop' AND TABLE_NAME='company_users'
SHOW CREATE TRIGGER `shop`.`users_made`
SHOW CREATE PROCEDURE `shop`.`sweep`
SHOW CREATE FUNCTION `shop`.`twice`
SHOW CREATE EVENT `shop`.`tidy`
SHOW CREATE VIEW `shop`.`company_users`
SELECT u.id, u.name, u.email, u.phone FROM shop.users u LIMIT 0, 200
SELECT COUNT(*) FROM shop.users u
SHOW GLOBAL VARIABLES
SHOW SESSION VARIABLES
SHOW GLOBAL STATUS
SHOW STATUS
SHOW WARNINGS
SELECT TABLE_NAME, DATA_LENGTH FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA='shop'
EXPLAIN SELECT * FROM shop.companies c JOIN shop.products p ON p.id = c.id
SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN ('mysql','performance_schema','sys')

-- DataGrip
SET net_write_timeout=600000
SET session_track_schema=1
select @@version_comment
select database(), schema(), left(user(),instr(concat(user(),'@'),'@')-1), @@version_comment
select schema_name, default_collation_name from information_schema.schemata order by schema_name
select collation_name, character_set_name, is_default from information_schema.collations
select character_set_name from information_schema.character_sets
select table_name, table_type, table_comment, engine, table_collation, create_options from information_schema.tables where table_schema = 'shop' and table_type != 'SYSTEM VIEW'
select ordinal_position, column_name, column_type, column_default, generation_expression, table_name, column_comment, is_nullable, extra, collation_name from information_schema.columns where table_schema = 'shop' order by table_name, ordinal_position
select index_name, index_comment, index_type, non_unique, column_name, sub_part, collation, table_name from information_schema.statistics where table_schema = 'shop' and index_schema = 'shop' order by index_schema, table_name, index_name, index_type, seq_in_index
select c.constraint_name, c.constraint_schema, c.table_name, c.constraint_type from information_schema.table_constraints c where c.table_schema = 'shop'
select constraint_name, table_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name from information_schema.key_column_usage where table_schema = 'shop' and referenced_column_name is not null order by table_name, constraint_name, ordinal_position
select constraint_name, table_name, match_option, update_rule, delete_rule, unique_constraint_schema, referenced_table_name from information_schema.referential_constraints where constraint_schema = 'shop'
select trigger_name, event_object_table, event_manipulation, action_timing, definer from information_schema.triggers where trigger_schema = 'shop'
select routine_name, routine_type, routine_definition, routine_comment, dtd_identifier, definer, is_deterministic = 'YES', cast(sql_data_access as char) sql_data_access, cast(security_type as char) security_type from information_schema.routines where routine_schema = 'shop'
select specific_name, ordinal_position, parameter_name, parameter_mode, dtd_identifier from information_schema.parameters where specific_schema = 'shop' and ordinal_position > 0 order by specific_name, ordinal_position
select event_name, event_comment, definer, event_type = 'RECURRING', interval_value, interval_field, cast(coalesce(starts, execute_at) as char), cast(ends as char), case status when 'ENABLED' then 1 else 0 end, on_completion = 'PRESERVE', last_executed from information_schema.events where event_schema = 'shop'
select table_name, view_definition, definer, security_type from information_schema.views where table_schema = 'shop'
select table_name, partition_name, subpartition_name, partition_ordinal_position, partition_method, partition_expression, partition_description, partition_comment from information_schema.partitions where table_schema = 'shop' and partition_name is not null
select grantee, table_name, column_name, privilege_type, is_grantable from information_schema.column_privileges where table_schema = 'shop' union all select grantee, table_name, '' column_name, privilege_type, is_grantable from information_schema.table_privileges where table_schema = 'shop' order by table_name, grantee, privilege_type
select grantee, privilege_type, is_grantable from information_schema.schema_privileges
select grantee, privilege_type from information_schema.user_privileges
select t.* from shop.users t limit 501
select count(*) from shop.users t
show create table shop.users
/* ApplicationName=DataGrip */ SET SQL_SELECT_LIMIT=501
[mariadb] /* ApplicationName=DataGrip */ SELECT @@session.tx_isolation

-- phpMyAdmin
SELECT @@version, @@version_comment
SELECT @@lower_case_table_names
SET NAMES 'utf8mb4' COLLATE 'utf8mb4_general_ci'
SET lc_messages = 'en_US'
SELECT CURRENT_USER()
SELECT `SCHEMA_NAME` FROM `INFORMATION_SCHEMA`.`SCHEMATA`
SHOW SESSION VARIABLES LIKE 'FOREIGN_KEY_CHECKS'
SHOW CHARACTER SET
SHOW COLLATION
SHOW STORAGE ENGINES
SHOW GLOBAL VARIABLES LIKE 'lower_case_table_names'
SELECT *, `TABLE_SCHEMA` AS `Db`, `TABLE_NAME` AS `Name`, `TABLE_TYPE` AS `TABLE_TYPE`, `ENGINE` AS `Engine`, `ENGINE` AS `Type`, `VERSION` AS `Version`, `ROW_FORMAT` AS `Row_format`, `TABLE_ROWS` AS `Rows`, `AVG_ROW_LENGTH` AS `Avg_row_length`, `DATA_LENGTH` AS `Data_length`, `MAX_DATA_LENGTH` AS `Max_data_length`, `INDEX_LENGTH` AS `Index_length`, `DATA_FREE` AS `Data_free`, `AUTO_INCREMENT` AS `Auto_increment`, `CREATE_TIME` AS `Create_time`, `UPDATE_TIME` AS `Update_time`, `CHECK_TIME` AS `Check_time`, `TABLE_COLLATION` AS `Collation`, `CHECKSUM` AS `Checksum`, `CREATE_OPTIONS` AS `Create_options`, `TABLE_COMMENT` AS `Comment` FROM `information_schema`.`TABLES` t WHERE `TABLE_SCHEMA` IN ('shop') AND t.`TABLE_NAME` = 'users' ORDER BY Name ASC
SHOW TABLE STATUS FROM `shop` WHERE `Name` LIKE 'users%'
SHOW TABLE STATUS FROM `shop` LIKE 'users%'
SHOW TABLE STATUS FROM `shop` WHERE `Name` IN ('users', 'orders')
SHOW FULL COLUMNS FROM `shop`.`users`
SHOW COLUMNS FROM `shop`.`users` LIKE 'email'
SHOW INDEXES FROM `shop`.`users`
SHOW CREATE TABLE `shop`.`users`
SELECT `PARTITION_NAME` from `information_schema`.`PARTITIONS` WHERE `TABLE_SCHEMA` = 'shop' AND `TABLE_NAME` = 'users'
SELECT `COLUMN_NAME` AS `Field`, `CHARACTER_SET_NAME` FROM `information_schema`.`COLUMNS` WHERE `TABLE_SCHEMA`='shop'
SELECT TRIGGER_SCHEMA, TRIGGER_NAME, EVENT_MANIPULATION, EVENT_OBJECT_TABLE, ACTION_TIMING, ACTION_STATEMENT, EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, DEFINER FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = 'shop' AND EVENT_OBJECT_TABLE = 'users'
SHOW TRIGGERS FROM `shop` LIKE 'users'
SELECT SPECIFIC_NAME, ROUTINE_NAME, ROUTINE_TYPE, DTD_IDENTIFIER, ROUTINE_DEFINITION, IS_DETERMINISTIC, SQL_DATA_ACCESS, ROUTINE_COMMENT, DEFINER FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA='shop'
SELECT `EVENT_NAME`, `STATUS`, `EVENT_TYPE` FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'shop'
SELECT TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'users' AND IS_UPDATABLE = 'YES'
SELECT COUNT(*) FROM `shop`.`users`
SELECT * FROM `shop`.`users` LIMIT 0, 25
SELECT *, CONCAT(`id`, '-', `name`) FROM `users` ORDER BY `users`.`name` ASC LIMIT 0, 25
SHOW GRANTS
SELECT 1 FROM information_schema.USER_PRIVILEGES LIMIT 1
SHOW VARIABLES LIKE 'profiling'
SHOW SESSION STATUS
SHOW GLOBAL STATUS LIKE 'Uptime'
SELECT DISTINCT u.`TABLE_NAME`, u.`COLUMN_NAME`, u.`REFERENCED_TABLE_NAME` FROM information_schema.KEY_COLUMN_USAGE AS u WHERE u.`TABLE_SCHEMA` IN ('shop') AND u.`REFERENCED_TABLE_NAME` IS NOT NULL

-- MySQL Workbench
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ
SET CHARACTER SET utf8
SET NAMES utf8
SET SQL_SAFE_UPDATES=1
SELECT CONNECTION_ID()
SHOW SESSION STATUS LIKE 'Ssl_cipher'
SELECT current_user()
set autocommit=1
SHOW SESSION VARIABLES LIKE 'lower_case_table_names'
SHOW SESSION VARIABLES LIKE 'sql_mode'
SHOW SESSION VARIABLES LIKE 'version_comment'
SHOW SESSION VARIABLES LIKE 'version'
SHOW DATABASES
SELECT name, type FROM (SELECT TABLE_NAME AS name, TABLE_TYPE AS type FROM information_schema.TABLES WHERE TABLE_SCHEMA='shop') x
SHOW FULL TABLES FROM `shop`
SHOW PROCEDURE STATUS WHERE Db='shop'
SHOW FUNCTION STATUS WHERE Db='shop'
SHOW FULL COLUMNS FROM `shop`.`users`
SHOW INDEXES FROM `shop`.`users`
SHOW TRIGGERS FROM `shop` LIKE 'users'
SHOW TRIGGERS FROM `shop` WHERE `Table` = 'users'
SHOW TABLE STATUS FROM `shop` LIKE 'users'
SHOW TABLE STATUS IN `shop` WHERE Name = 'users'
SHOW PLUGINS
SHOW VARIABLES
SHOW GLOBAL STATUS
SHOW ENGINES
SELECT * FROM shop.users LIMIT 0, 1000
SELECT st.* FROM shop.orders st LIMIT 0, 1000
EXPLAIN SELECT id FROM shop.companies
EXPLAIN FORMAT=JSON SELECT id FROM shop.companies
SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'users'

-- Metabase
SELECT TABLE_SCHEMA AS `schema`, TABLE_NAME AS `name`, TABLE_COMMENT AS description, TABLE_TYPE FROM information_schema.tables WHERE TABLE_SCHEMA NOT IN ('information_schema', 'mysql') AND TABLE_TYPE IN ('BASE TABLE', 'VIEW')
SELECT c.column_name AS `name`, c.ordinal_position - 1 AS `database-position`, NULL AS `schema`, c.table_name AS `table-name`, CASE WHEN c.column_type = 'tinyint(1)' THEN 'BIT' ELSE UPPER(c.data_type) END AS `database-type`, c.extra = 'auto_increment' AS `database-is-auto-increment`, c.column_default IS NULL AND c.is_nullable = 'NO' AND c.extra <> 'auto_increment' AS `database-required`, c.column_key = 'PRI' AS `pk?`, NULLIF(c.column_comment, '') AS `field-comment` FROM information_schema.columns AS c WHERE c.table_schema NOT IN ('information_schema', 'performance_schema', 'sys', 'mysql') AND c.table_schema IN ('shop') ORDER BY `table-name`, `database-position`
SELECT A.column_name AS `pk-column-name`, A.referenced_table_name AS `fk-table-name` FROM information_schema.key_column_usage A JOIN information_schema.table_constraints B USING (constraint_schema, constraint_name, table_name) WHERE B.constraint_type = 'FOREIGN KEY' AND A.referenced_table_schema = 'shop'
SELECT `users`.`id` AS `id`, `users`.`name` AS `name`, `users`.`email` AS `email` FROM `users` LIMIT 2000
SELECT COUNT(*) AS `count` FROM `users`
SELECT STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`created_at`, '%Y-%m'), '-01'), '%Y-%m-%d') AS `created_at`, SUM(`orders`.`total`) AS `sum` FROM `orders` GROUP BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`created_at`, '%Y-%m'), '-01'), '%Y-%m-%d') ORDER BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`created_at`, '%Y-%m'), '-01'), '%Y-%m-%d') ASC
SELECT `source`.`name` AS `name`, COUNT(*) AS `count` FROM (SELECT `users`.`id` AS `id`, `users`.`name` AS `name`, `users`.`email` AS `email`, SUBSTRING(`users`.`email`, 1, 1234) AS `substring1` FROM `users`) AS `source` GROUP BY `source`.`name` ORDER BY `source`.`name` ASC
SELECT COUNT(distinct `users`.`email`) AS `count` FROM `users`
SELECT `orders`.`id` AS `id`, `Users`.`email` AS `Users__email` FROM `orders` LEFT JOIN `users` AS `Users` ON `orders`.`user_id` = `Users`.`id` WHERE `orders`.`created_at` >= TIMESTAMP('2024-01-01 00:00:00.000') AND `orders`.`created_at` < DATE_ADD(NOW(6), INTERVAL 1 year) LIMIT 2000
SELECT * FROM `users` WHERE TRUE LIMIT 1 
SELECT TRUE AS `_` FROM `shop`.`users` WHERE 1 <> 1 LIMIT 0
SELECT SUBSTRING(`users`.`email`, 1, 1234) AS `substring76`, `users`.`id` FROM `users` LIMIT 10000
SELECT DATE(`orders`.`created_at`) AS `d`, AVG(`orders`.`total`) AS `avg`, STDDEV_POP(`orders`.`total`) AS `sd` FROM `orders` WHERE `orders`.`status` = 'paid' GROUP BY DATE(`orders`.`created_at`) ORDER BY `avg` DESC, DATE(`orders`.`created_at`) ASC LIMIT 10

-- Grafana
SELECT UNIX_TIMESTAMP(created_at) DIV 3600 * 3600 AS `time`, AVG(total) AS `value`, status AS metric FROM orders WHERE created_at BETWEEN FROM_UNIXTIME(1700000000) AND FROM_UNIXTIME(1900000000) GROUP BY 1, 3 ORDER BY 1
SELECT UNIX_TIMESTAMP(created_at) as time_sec, total as value, 'orders' as metric FROM orders WHERE UNIX_TIMESTAMP(created_at) >= 1700000000 AND UNIX_TIMESTAMP(created_at) <= 1900000000 ORDER BY created_at ASC
SELECT cast(cast(UNIX_TIMESTAMP(created_at)/(300) as signed)*300 as signed) AS time_sec, count(*) FROM orders GROUP BY time_sec ORDER BY time_sec
SELECT DISTINCT TABLE_SCHEMA from information_schema.TABLES where TABLE_TYPE != 'SYSTEM VIEW' ORDER BY TABLE_SCHEMA
SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop' ORDER BY table_name
SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'users' ORDER BY column_name
SELECT name AS __text, id AS __value FROM companies
SELECT 1 as one
SHOW VARIABLES LIKE 'time_zone'

-- Superset, SQLAlchemy
SELECT CAST('test plain returns' AS CHAR(60)) AS anon_1
SHOW FULL TABLES FROM `shop`
SHOW CREATE TABLE `shop`.`users`
SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.tables WHERE table_schema = 'shop'
SELECT DATE(created_at) AS __timestamp, COUNT(*) AS count FROM orders WHERE created_at >= STR_TO_DATE('2024-01-01 00:00:00.000000', '%Y-%m-%d %H:%i:%s.%f') AND created_at < STR_TO_DATE('2025-01-01', '%Y-%m-%d') GROUP BY DATE(created_at) ORDER BY count DESC LIMIT 10000
SELECT DATE_ADD(created_at, INTERVAL -HOUR(created_at) HOUR) AS __timestamp, status AS status, sum(total) AS `SUM(total)` FROM orders GROUP BY status, DATE_ADD(created_at, INTERVAL -HOUR(created_at) HOUR) ORDER BY `SUM(total)` DESC LIMIT 1000
SELECT DATE(DATE_SUB(created_at, INTERVAL DAYOFWEEK(DATE_SUB(created_at, INTERVAL 1 DAY)) - 1 DAY)) AS w, MAKEDATE(YEAR(created_at), 1) + INTERVAL QUARTER(created_at) QUARTER - INTERVAL 1 QUARTER AS q FROM orders GROUP BY 1, 2
SELECT name AS name, COUNT(*) AS count FROM (SELECT u.name, u.email, o.total FROM users u JOIN orders o ON o.user_id = u.id) AS virtual_table GROUP BY name ORDER BY count DESC LIMIT 100
SELECT * FROM (SELECT * FROM users) AS inner_qry LIMIT 1001
SELECT COUNT(*) AS rowcount FROM (SELECT users.email AS email, users.id AS id FROM users) AS rowcount_qry
EXPLAIN SELECT companies.name FROM companies
SELECT email AS email, count(id) AS n, max(created_at) AS last FROM users GROUP BY id, email ORDER BY n DESC LIMIT 1000

-- Tableau, Power BI, Looker
SELECT `users`.`name` AS `name` FROM `users` GROUP BY 1 ORDER BY `name` ASC
SELECT SUM(1) AS `sum:Number of Records:ok` FROM `users` HAVING (COUNT(1) > 0)
SELECT `orders`.`status` AS `status`, SUM(`orders`.`total`) AS `sum:total:ok` FROM `orders` INNER JOIN `users` ON (`orders`.`user_id` = `users`.`id`) GROUP BY 1
SELECT COUNT(DISTINCT `users`.`email`) AS `ctd:email:ok` FROM `users` HAVING COUNT(1)>0
SELECT DISTINCT `users`.`company_id` AS `company_id` FROM `users` WHERE ((`users`.`company_id` >= 1) AND (`users`.`company_id` <= 9)) ORDER BY 1
select `$Table`.`id` as `id`, `$Table`.`email` as `email` from `shop`.`users` as `$Table` limit 4096
select `rows`.`status` as `status`, sum(cast(`rows`.`total` as decimal(20,4))) as `a0` from `shop`.`orders` `rows` group by `status` limit 1000001
SELECT users.id AS `users.id`, users.email AS `users.email`, DATE(CONVERT_TZ(orders.created_at,'+00:00','-07:00')) AS `orders.created_date`, COALESCE(SUM(orders.total), 0) AS `orders.total` FROM orders LEFT JOIN users ON orders.user_id = users.id GROUP BY 1,2,3 ORDER BY DATE(CONVERT_TZ(orders.created_at,'+00:00','-07:00')) DESC LIMIT 500
SELECT 1 FROM users WHERE 1=0
SELECT COUNT(*) FROM (SELECT 1 AS `one` FROM `users` WHERE `email` = 'al@example.org' GROUP BY `id`) `t`
SELECT IF(ISNULL(`users`.`email`), 0, 1) AS `has_email`, COUNT(*) FROM `users` GROUP BY IF(ISNULL(`users`.`email`), 0, 1)
SELECT `users`.`email` IS NOT NULL AS `has_email`, COUNT(*) FROM `users` GROUP BY 1

-- Flyway, Liquibase
SELECT @@version
SELECT VERSION()
SELECT DATABASE()
SELECT EXISTS(SELECT 1 FROM information_schema.tables WHERE (table_schema='shop' AND table_name='flyway_schema_history') LIMIT 1)
SELECT SUBSTRING_INDEX(USER(),'@',1)
SELECT EVENT_NAME FROM information_schema.EVENTS WHERE event_schema='shop' LIMIT 1
SHOW VARIABLES LIKE 'PXC_STRICT_MODE'
SHOW VARIABLES LIKE 'wsrep_on'
SELECT GET_LOCK('Flyway-123', 10)
SELECT @@foreign_key_checks, @@sql_safe_updates
SET foreign_key_checks=1, sql_safe_updates=0
SELECT RELEASE_LOCK('Flyway-123')
SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM information_schema.tables WHERE table_schema='shop' LIMIT 1) a) + (SELECT COUNT(*) FROM (SELECT 1 FROM information_schema.routines WHERE routine_schema='shop' LIMIT 1) b) + (SELECT COUNT(*) FROM (SELECT 1 FROM information_schema.triggers WHERE event_object_schema='shop' LIMIT 1) c) + (SELECT COUNT(*) FROM (SELECT 1 FROM information_schema.views WHERE table_schema='shop' LIMIT 1) d)
SELECT COUNT(*) FROM shop.schema_migrations
SELECT TABLE_NAME, TABLE_SCHEMA, VIEW_DEFINITION FROM information_schema.views WHERE TABLE_SCHEMA='shop'
SELECT CONSTRAINT_NAME, TABLE_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' AND CONSTRAINT_TYPE = 'UNIQUE'
SELECT const.CONSTRAINT_NAME, const.TABLE_NAME FROM information_schema.table_constraints const WHERE const.constraint_schema = 'shop' AND const.constraint_type = 'UNIQUE' ORDER BY const.TABLE_NAME

-- Connector/J of several ages, HikariCP, c3p0
[mariadb] /* mysql-connector-java-8.0.33 (Revision: 7d6b0800528b6b25c68b52dc10d6c1c8429c100c) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@query_cache_size AS query_cache_size, @@query_cache_type AS query_cache_type, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@tx_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout
/* mysql-connector-java-5.1.49 ( Revision: ad86f36e100e104cd926c6b81c8cab9565750116 ) */SHOW VARIABLES WHERE Variable_name ='language' OR Variable_name = 'net_write_timeout' OR Variable_name = 'interactive_timeout' OR Variable_name = 'wait_timeout' OR Variable_name = 'character_set_client' OR Variable_name = 'character_set_connection' OR Variable_name = 'character_set' OR Variable_name = 'character_set_server' OR Variable_name = 'tx_isolation' OR Variable_name = 'transaction_isolation' OR Variable_name = 'character_set_results' OR Variable_name = 'timezone' OR Variable_name = 'time_zone' OR Variable_name = 'system_time_zone' OR Variable_name = 'lower_case_table_names' OR Variable_name = 'max_allowed_packet' OR Variable_name = 'net_buffer_length' OR Variable_name = 'sql_mode' OR Variable_name = 'query_cache_type' OR Variable_name = 'query_cache_size' OR Variable_name = 'license' OR Variable_name = 'init_connect'
SHOW COLLATION
SET character_set_results = NULL
SET autocommit=1
SET SESSION autocommit=1
SET sql_mode='NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES'
[mariadb] SELECT @@session.tx_read_only
/* mysql-connector-j-9.1.0 (Revision: cf2917ea44ae2e43a4514a33771035aa99de1bdb) */SELECT 1
SELECT @@session.auto_increment_increment AS auto_increment_increment
SET SESSION TRANSACTION READ WRITE
SHOW VARIABLES LIKE 'aurora\_server\_id'
SET net_write_timeout=600
SET net_write_timeout=60
SET SQL_SELECT_LIMIT=100
SET SQL_SELECT_LIMIT=DEFAULT
SET sql_select_limit=18446744073709551615
SHOW FULL TABLES FROM `shop` LIKE 'users'
SHOW FULL COLUMNS FROM `users` FROM `shop` LIKE 'email'
SHOW CREATE TABLE `shop`.`users`
SHOW KEYS FROM `users` FROM `shop`
SHOW INDEX FROM `users` FROM `shop`
SHOW PROCEDURE STATUS LIKE 'sweep'
SHOW COLUMNS FROM users LIKE '%'
SELECT ROUTINE_SCHEMA AS PROCEDURE_CAT, NULL AS PROCEDURE_SCHEM, ROUTINE_NAME AS PROCEDURE_NAME, NULL AS RESERVED_1, NULL AS RESERVED_2, NULL AS RESERVED_3, ROUTINE_COMMENT AS REMARKS, CASE WHEN ROUTINE_TYPE = 'PROCEDURE' THEN 1 WHEN ROUTINE_TYPE='FUNCTION' THEN 2 ELSE 0 END AS PROCEDURE_TYPE, ROUTINE_NAME AS SPECIFIC_NAME FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_SCHEMA = 'shop' ORDER BY PROCEDURE_NAME
SELECT SPECIFIC_SCHEMA AS PROCEDURE_CAT, NULL AS `PROCEDURE_SCHEM`, SPECIFIC_NAME AS `PROCEDURE_NAME`, IFNULL(PARAMETER_NAME, '') AS `COLUMN_NAME`, CASE WHEN PARAMETER_MODE = 'IN' THEN 1 WHEN PARAMETER_MODE='OUT' THEN 4 ELSE 0 END AS `COLUMN_TYPE`, UPPER(DATA_TYPE) AS `TYPE_NAME` FROM INFORMATION_SCHEMA.PARAMETERS WHERE SPECIFIC_SCHEMA = 'shop' AND SPECIFIC_NAME = 'sweep' ORDER BY SPECIFIC_SCHEMA, SPECIFIC_NAME, ROUTINE_TYPE, ORDINAL_POSITION
SELECT TABLE_SCHEMA, NULL, TABLE_NAME, COLUMN_NAME, NULL, 'utf8' FROM INFORMATION_SCHEMA.COLUMN_PRIVILEGES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'users' AND COLUMN_NAME LIKE '%'
SELECT @@session.character_set_client,@@session.collation_connection

-- MariaDB connectors (J, C, Node, R2DBC)
set autocommit=1, session_track_schema=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')
[mariadb] set session_track_schema=1,session_track_system_variables='auto_increment_increment,autocommit', sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES'), tx_isolation='REPEATABLE-READ'
SET NAMES UTF8MB4
[mariadb] SELECT @@max_allowed_packet,@@system_time_zone,@@time_zone,@@auto_increment_increment,@@tx_isolation
select @@system_time_zone, @@time_zone
SET collation_connection=utf8mb4_unicode_ci,session_track_system_variables = CONCAT(@@session_track_system_variables,',tx_isolation')
[mariadb] SET max_statement_time=30
[mariadb] SET STATEMENT max_statement_time=30 FOR SELECT id, email FROM users
[mariadb] SET STATEMENT SQL_SELECT_LIMIT=100 FOR SELECT * FROM users
SELECT version() LIKE '%MariaDB%'
SET SESSION TRANSACTION READ ONLY
SELECT @@innodb_read_only
SELECT @@hostname
SET default_storage_engine=InnoDB

-- mysqlclient, PyMySQL, mysql2, PDO, mysqli, Ruby
SET NAMES utf8mb4
SET NAMES 'utf8' COLLATE 'utf8_general_ci'
SET SESSION sql_mode = 'TRADITIONAL'
SET AUTOCOMMIT = 0
SET @@session.autocommit = OFF
SET SESSION time_zone = 'SYSTEM'
SET time_zone = '+02:00'
SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO'
SET @saved_cs_client = @@character_set_client
SET SESSION group_concat_max_len = 1000000
[mariadb] SET SESSION MAX_STATEMENT_TIME=10
SET SESSION innodb_lock_wait_timeout = 5
SET SESSION wait_timeout = 28800
SET SQL_BIG_SELECTS=1
SET optimizer_switch='derived_merge=off'
SET SESSION optimizer_switch = 'index_merge=off'
SET SESSION tmp_table_size=67108864, max_heap_table_size=67108864
SET SESSION optimizer_search_depth=0
SET SESSION long_query_time=1
SET completion_type=0
[mariadb] SELECT @@session.max_statement_time
SELECT @@global.read_only
SELECT @@session.sql_mode, @@session.time_zone
SELECT @@group_concat_max_len
SELECT @@optimizer_switch
SELECT @@global.max_allowed_packet, @@global.wait_timeout
SELECT @@datadir IS NOT NULL
SELECT @@version, @@version_comment, @@version_compile_os, @@version_compile_machine
[mariadb] SELECT @@tx_isolation, @@autocommit
SELECT @@innodb_file_per_table, @@innodb_page_size
SELECT @@explicit_defaults_for_timestamp
SELECT LAST_INSERT_ID(), ROW_COUNT(), CONNECTION_ID()
SHOW COUNT(*) WARNINGS
SHOW ERRORS
SELECT NULL
SELECT SLEEP(0)
DO 0
DO SLEEP(0)
DO RELEASE_LOCK('x')

-- Hibernate
select TABLE_NAME from information_schema.tables where TABLE_SCHEMA='shop'
[mariadb] select nextval(numbers)
[mariadb] select nextval(`numbers`)
select next_val as id_val from hibernate_sequence for update
update hibernate_sequence set next_val= 20 where next_val=10
select u1_0.id,u1_0.email,u1_0.name from users u1_0 where u1_0.email in ('a','b','c')
select u1_0.id,u1_0.email from users u1_0 where u1_0.email=('al@example.org')
select u1_0.id from users u1_0 where u1_0.name like 'A%' escape ''
select u1_0.id from users u1_0 where u1_0.name like replace('A%','\\','\\\\')
select count(*) from users u1_0 join orders o1_0 on u1_0.id=o1_0.user_id where u1_0.email is not null
select u1_0.id,case when u1_0.version=1 then 'a' else 'b' end from users u1_0
select u1_0.id,u1_0.email from users u1_0 where (u1_0.company_id,u1_0.version) in ((1,0),(2,3))
select u1_0.id,o1_0.id from users u1_0 left join orders o1_0 on u1_0.id=o1_0.user_id and (o1_0.status='paid') where u1_0.id in (select o2_0.user_id from orders o2_0 group by o2_0.user_id having count(*)>0)
select u1_0.id,u1_0.phone from users u1_0 order by u1_0.id limit 10 for update skip locked
select max(u1_0.phone),min(u1_0.created_at) from users u1_0
select concat(u1_0.name,' <',u1_0.email,'>') from users u1_0
select coalesce(u1_0.email,u1_0.phone,'none') from users u1_0
select upper(u1_0.email),lower(u1_0.email),trim(u1_0.email),character_length(u1_0.email) from users u1_0
select nullif(u1_0.email,'') from users u1_0
select cast(u1_0.phone as char),locate('@',u1_0.email) from users u1_0
insert into users(company_id,email,name,phone,version) values (1,'h1@example.org','H','+1',0),(2,'h2@example.org','I','+2',0)
update users u1_0 set u1_0.email='h3@example.org',u1_0.version=(u1_0.version+1) where u1_0.id=2 and u1_0.version=3
update users set email='h4@example.org' where id=2
delete u1_0 from users u1_0 where u1_0.id=99
delete from orders where user_id in (select id from users where company_id=77)

-- EF Core, Pomelo, MySqlConnector
SELECT VERSION()
SELECT 1 FROM `information_schema`.`tables` WHERE `TABLE_SCHEMA` = 'shop' LIMIT 1
SELECT CASE WHEN COUNT(*) = 0 THEN FALSE ELSE TRUE END FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema = 'shop'
SELECT `TABLE_NAME`, `TABLE_TYPE`, IF(`TABLE_COMMENT` = 'VIEW' AND `TABLE_TYPE` = 'VIEW', '', `TABLE_COMMENT`) AS `TABLE_COMMENT`, `TABLE_COLLATION` FROM `INFORMATION_SCHEMA`.`TABLES` WHERE `TABLE_SCHEMA` = SCHEMA() AND `TABLE_TYPE` IN ('BASE TABLE', 'VIEW')
SELECT `COLUMN_NAME`, `ORDINAL_POSITION`, `COLUMN_DEFAULT`, IF(`IS_NULLABLE` = 'YES', 1, 0) AS `IS_NULLABLE`, `DATA_TYPE`, `CHARACTER_SET_NAME`, `COLLATION_NAME`, `COLUMN_TYPE`, `COLUMN_COMMENT`, `EXTRA`, `GENERATION_EXPRESSION` FROM `INFORMATION_SCHEMA`.`COLUMNS` WHERE `TABLE_SCHEMA` = SCHEMA() AND `TABLE_NAME` = 'users' ORDER BY `ORDINAL_POSITION`
SELECT `INDEX_NAME`, GROUP_CONCAT(`COLUMN_NAME` ORDER BY `SEQ_IN_INDEX` SEPARATOR ',') AS COLUMNS FROM `INFORMATION_SCHEMA`.`STATISTICS` WHERE `TABLE_SCHEMA` = SCHEMA() AND `TABLE_NAME` = 'users' AND `INDEX_NAME` = 'PRIMARY' GROUP BY `INDEX_NAME`
SELECT `CONSTRAINT_NAME`, `TABLE_NAME`, `REFERENCED_TABLE_NAME`, GROUP_CONCAT(CONCAT_WS('|', `COLUMN_NAME`, `REFERENCED_COLUMN_NAME`) ORDER BY `ORDINAL_POSITION` SEPARATOR ',') AS PAIRED_COLUMNS, (SELECT `DELETE_RULE` FROM `INFORMATION_SCHEMA`.`REFERENTIAL_CONSTRAINTS` WHERE `REFERENTIAL_CONSTRAINTS`.`CONSTRAINT_NAME` = `KEY_COLUMN_USAGE`.`CONSTRAINT_NAME` AND `REFERENTIAL_CONSTRAINTS`.`CONSTRAINT_SCHEMA` = `KEY_COLUMN_USAGE`.`CONSTRAINT_SCHEMA`) AS `DELETE_RULE` FROM `INFORMATION_SCHEMA`.`KEY_COLUMN_USAGE` WHERE `TABLE_SCHEMA` = SCHEMA() AND `TABLE_NAME` = 'orders' AND `CONSTRAINT_NAME` <> 'PRIMARY' AND `REFERENCED_TABLE_NAME` IS NOT NULL GROUP BY `CONSTRAINT_SCHEMA`, `CONSTRAINT_NAME`, `TABLE_NAME`, `REFERENCED_TABLE_NAME`
SELECT `u`.`id`, `u`.`email` FROM `users` AS `u` WHERE `u`.`email` = 'al@example.org' LIMIT 2
SELECT COUNT(*) FROM `users` AS `u` WHERE `u`.`email` IS NOT NULL
SELECT `u`.`id`, `u`.`email` FROM `users` AS `u` WHERE `u`.`id` IN (1, 2) ORDER BY `u`.`name`, `u`.`id` LIMIT 10 OFFSET 0
SELECT EXISTS (SELECT 1 FROM `users` AS `u` WHERE `u`.`name` = 'Al')
SELECT `t`.`company_id`, `t`.`c`, `t0`.`id` FROM (SELECT `u`.`company_id`, COUNT(*) AS `c` FROM `users` AS `u` GROUP BY `u`.`company_id`) AS `t` LEFT JOIN (SELECT `t1`.`id`, `t1`.`company_id` FROM (SELECT `u0`.`id`, `u0`.`company_id`, ROW_NUMBER() OVER(PARTITION BY `u0`.`company_id` ORDER BY `u0`.`id`) AS `row` FROM `users` AS `u0`) AS `t1` WHERE `t1`.`row` <= 1) AS `t0` ON `t`.`company_id` = `t0`.`company_id`
UPDATE `users` SET `email` = 'e@example.org', `version` = 1 WHERE `id` = 1 AND `version` = 0
INSERT INTO `users` (`name`, `email`) VALUES ('E', 'e1@example.org')
SELECT `id`, `version` FROM `users` WHERE ROW_COUNT() = 1 AND `id` = LAST_INSERT_ID()
[mariadb] INSERT INTO `companies` (`name`) VALUES ('E2') RETURNING `id`
UPDATE `users` AS `u` SET `u`.`version` = `u`.`version` + 1 WHERE `u`.`company_id` = 2
DELETE `u` FROM `users` AS `u` WHERE `u`.`id` = 404
SET @@session.sql_mode='STRICT_TRANS_TABLES'

-- Sequelize, TypeORM, Prisma, Drizzle, Knex
SELECT VERSION() as `version`
SHOW FULL COLUMNS FROM `users`
SHOW INDEX FROM `users` FROM `shop`
SELECT CONSTRAINT_NAME as constraint_name,CONSTRAINT_NAME as constraintName,CONSTRAINT_SCHEMA as constraintSchema,TABLE_NAME as tableName,COLUMN_NAME as columnName,REFERENCED_TABLE_SCHEMA as referencedTableSchema,REFERENCED_TABLE_NAME as referencedTableName,REFERENCED_COLUMN_NAME as referencedColumnName FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE where TABLE_NAME = 'users' AND CONSTRAINT_NAME!='PRIMARY' AND CONSTRAINT_SCHEMA='shop' AND REFERENCED_TABLE_NAME IS NOT NULL
SELECT TABLE_NAME, TABLE_SCHEMA FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN ('MYSQL', 'INFORMATION_SCHEMA', 'PERFORMANCE_SCHEMA', 'SYS', 'mysql', 'information_schema', 'performance_schema', 'sys')
SELECT `id`, `email` FROM `users` AS `User` WHERE `User`.`email` = 'al@example.org' LIMIT 1
SELECT count(`User`.`id`) AS `count` FROM `users` AS `User` LEFT OUTER JOIN `orders` AS `orders` ON `User`.`id` = `orders`.`user_id`
SELECT `SCHEMA_NAME` FROM `INFORMATION_SCHEMA`.`SCHEMATA` WHERE `SCHEMA_NAME` = 'shop'
SELECT * FROM `INFORMATION_SCHEMA`.`COLUMNS` WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'users' UNION SELECT * FROM `INFORMATION_SCHEMA`.`COLUMNS` WHERE `TABLE_SCHEMA` = 'shop' AND `TABLE_NAME` = 'orders'
SELECT `s`.* FROM `INFORMATION_SCHEMA`.`STATISTICS` `s` LEFT JOIN (SELECT * FROM `INFORMATION_SCHEMA`.`REFERENTIAL_CONSTRAINTS` WHERE `CONSTRAINT_SCHEMA` = 'shop' AND `TABLE_NAME` = 'users') `rc` ON `s`.`INDEX_NAME` = `rc`.`CONSTRAINT_NAME` AND `s`.`TABLE_SCHEMA` = `rc`.`CONSTRAINT_SCHEMA` WHERE `s`.`TABLE_SCHEMA` = 'shop' AND `s`.`TABLE_NAME` = 'users' AND `s`.`INDEX_NAME` != 'PRIMARY' AND `rc`.`CONSTRAINT_NAME` IS NULL
SELECT `kcu`.`TABLE_SCHEMA`, `kcu`.`TABLE_NAME`, `kcu`.`CONSTRAINT_NAME`, `kcu`.`COLUMN_NAME`, `kcu`.`REFERENCED_TABLE_SCHEMA`, `kcu`.`REFERENCED_TABLE_NAME`, `kcu`.`REFERENCED_COLUMN_NAME`, `rc`.`DELETE_RULE` `ON_DELETE`, `rc`.`UPDATE_RULE` `ON_UPDATE` FROM (SELECT * FROM `INFORMATION_SCHEMA`.`KEY_COLUMN_USAGE` `kcu` WHERE `kcu`.`TABLE_SCHEMA` = 'shop' AND `kcu`.`TABLE_NAME` = 'users') `kcu` INNER JOIN (SELECT * FROM `INFORMATION_SCHEMA`.`REFERENTIAL_CONSTRAINTS` WHERE `CONSTRAINT_SCHEMA` = 'shop' AND `TABLE_NAME` = 'users') `rc` ON `rc`.`CONSTRAINT_SCHEMA` = `kcu`.`CONSTRAINT_SCHEMA` AND `rc`.`TABLE_NAME` = `kcu`.`TABLE_NAME` AND `rc`.`CONSTRAINT_NAME` = `kcu`.`CONSTRAINT_NAME`
SELECT VIEW_DEFINITION AS view_sql, TABLE_NAME AS view_name FROM information_schema.views WHERE table_schema = 'shop'
SELECT BINARY view_definition AS view_definition FROM information_schema.views WHERE table_schema = 'shop'
SELECT DISTINCT BINARY table_info.table_name AS table_name, table_info.table_comment AS table_comment FROM information_schema.tables AS table_info JOIN information_schema.columns AS column_info ON BINARY column_info.table_name = BINARY table_info.table_name WHERE table_info.table_schema = 'shop' AND column_info.table_schema = 'shop' AND table_info.table_type = 'BASE TABLE' ORDER BY BINARY table_info.table_name
SELECT column_name column_name, data_type data_type, column_type full_data_type, character_maximum_length character_maximum_length, numeric_precision numeric_precision, numeric_scale numeric_scale, datetime_precision datetime_precision, column_default column_default, is_nullable is_nullable, extra extra, table_name table_name, IF(column_comment = '', NULL, column_comment) AS column_comment, generation_expression generation_expression FROM information_schema.columns WHERE table_schema = 'shop' ORDER BY ordinal_position
[mariadb] SELECT DISTINCT BINARY stat.table_name AS table_name, BINARY stat.index_name AS index_name, BINARY stat.column_name AS column_name, stat.sub_part AS partial, BINARY stat.collation AS column_order, stat.non_unique AS non_unique, BINARY stat.index_type AS index_type FROM INFORMATION_SCHEMA.statistics stat WHERE BINARY stat.table_schema = 'shop' ORDER BY BINARY stat.table_name, BINARY stat.index_name, stat.seq_in_index
[mariadb] SELECT DISTINCT BINARY kcu.constraint_name constraint_name, BINARY kcu.column_name column_name, BINARY kcu.referenced_table_name referenced_table_name, rc.delete_rule delete_rule, BINARY kcu.table_name table_name, kcu.ordinal_position ordinal_position FROM information_schema.key_column_usage AS kcu INNER JOIN information_schema.referential_constraints AS rc ON BINARY kcu.constraint_name = BINARY rc.constraint_name WHERE BINARY kcu.table_schema = 'shop' AND BINARY rc.constraint_schema = 'shop' AND kcu.referenced_column_name IS NOT NULL ORDER BY BINARY kcu.table_schema, BINARY kcu.table_name, BINARY kcu.constraint_name, kcu.ordinal_position
SELECT BINARY routine_name AS name, routine_definition AS definition FROM information_schema.ROUTINES WHERE routine_schema = 'shop' AND routine_type = 'PROCEDURE'
SELECT GET_LOCK('prisma_migrate', 10)
SELECT RELEASE_LOCK('prisma_migrate')
SELECT * FROM information_schema.tables WHERE table_schema = 'shop' AND table_name = 'knex_migrations'
select * from information_schema.tables where table_name = 'users' and table_schema = database()
select `CONSTRAINT_NAME` from information_schema.TABLE_CONSTRAINTS where TABLE_SCHEMA = 'shop' and TABLE_NAME = 'users'

-- Laravel, Doctrine, Symfony, Drupal, WordPress
SET NAMES utf8mb4 COLLATE utf8mb4_unicode_520_ci
SELECT @@SESSION.sql_mode
SET SESSION sql_mode='NO_ENGINE_SUBSTITUTION'
SHOW FULL COLUMNS FROM `users`
SHOW TABLES LIKE 'wp\_%'
SELECT @@collation_connection, @@character_set_database
SELECT SQL_CALC_FOUND_ROWS users.id FROM users WHERE 1=1 ORDER BY users.created_at DESC LIMIT 0, 10
SELECT FOUND_ROWS()
SELECT name, email FROM users WHERE version IN (0, 1) GROUP BY users.id ORDER BY users.created_at DESC LIMIT 0, 10
INSERT INTO `users` (`id`, `name`, `email`) VALUES (7, 'W', 'w@example.org') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`), `email` = VALUES(`email`)
DELETE a, b FROM orders a, order_items b WHERE a.id = b.order_id AND a.status = 'gone'
SELECT t.TABLE_NAME, t.ENGINE, t.AUTO_INCREMENT, t.TABLE_COMMENT, t.CREATE_OPTIONS, t.TABLE_COLLATION, ccsa.CHARACTER_SET_NAME FROM information_schema.TABLES t INNER JOIN information_schema.COLLATION_CHARACTER_SET_APPLICABILITY ccsa ON ccsa.COLLATION_NAME = t.TABLE_COLLATION WHERE t.TABLE_SCHEMA = 'shop' AND t.TABLE_TYPE = 'BASE TABLE'
SELECT DISTINCT k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, k.ORDINAL_POSITION /*!50116 , c.UPDATE_RULE, c.DELETE_RULE */ FROM information_schema.key_column_usage k /*!50116 INNER JOIN information_schema.referential_constraints c ON c.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND c.TABLE_NAME = k.TABLE_NAME */ WHERE k.TABLE_NAME = 'users' AND k.TABLE_SCHEMA = 'shop' /*!50116 AND c.CONSTRAINT_SCHEMA = 'shop' */ ORDER BY k.ORDINAL_POSITION
SELECT TABLE_NAME AS `Table`, NON_UNIQUE AS Non_Unique, INDEX_NAME AS Key_name, COLUMN_NAME AS Column_Name, SUB_PART AS Sub_Part, INDEX_TYPE AS Index_Type FROM information_schema.STATISTICS WHERE TABLE_NAME = 'users' AND TABLE_SCHEMA = 'shop' ORDER BY SEQ_IN_INDEX ASC
select distinct t0_.email as email_0, t0_.id as id_1 from users t0_ order by t0_.id asc limit 20
SELECT COUNT(*) AS dctrn_count FROM (SELECT DISTINCT id_0 FROM (SELECT u0_.id AS id_0, u0_.email AS email_1 FROM users u0_) dctrn_result) dctrn_table
SELECT DISTINCT id_0 FROM (SELECT u0_.id AS id_0, u0_.email AS email_1 FROM users u0_) dctrn_result ORDER BY id_0 ASC LIMIT 5
SELECT MAX(expire_date) FROM django_session
SELECT 1 AS expression FROM users users_field_data WHERE users_field_data.id = 1
SELECT base.id AS id, base.email AS mail FROM users base WHERE base.id IN (0, 1)
INSERT INTO companies (name) VALUES ('a'), ('b')
REPLACE INTO schema_migrations (version) VALUES ('1')
TRUNCATE TABLE `hibernate_sequence`
CREATE TABLE IF NOT EXISTS `cache` (`key` varchar(255) NOT NULL, `value` mediumtext NOT NULL, `expiration` int NOT NULL, PRIMARY KEY (`key`)) DEFAULT CHARACTER SET utf8mb4 COLLATE 'utf8mb4_unicode_ci'
insert into `cache` (`expiration`, `key`, `value`) values (1, 'k', 'v') on duplicate key update `expiration` = values(`expiration`), `value` = values(`value`)
CREATE TEMPORARY TABLE tmp_ids (id BIGINT PRIMARY KEY) ENGINE=MEMORY
INSERT INTO tmp_ids SELECT id FROM users WHERE company_id = 2
SELECT u.id, u.email FROM users u JOIN tmp_ids t ON t.id = u.id
DROP TEMPORARY TABLE tmp_ids

-- jOOQ, MyBatis, ent, sqlc, GORM
select `information_schema`.`SCHEMATA`.`SCHEMA_NAME` from `information_schema`.`SCHEMATA` where `information_schema`.`SCHEMATA`.`SCHEMA_NAME` in ('shop')
select `ROUTINE_SCHEMA`, `ROUTINE_NAME`, `ROUTINE_COMMENT`, `ROUTINE_TYPE` from `information_schema`.`ROUTINES` where `ROUTINE_SCHEMA` in ('shop') order by 1, 2, 4
select `kcu`.`CONSTRAINT_NAME` from `information_schema`.`KEY_COLUMN_USAGE` as `kcu` where `kcu`.`TABLE_SCHEMA` = 'shop' order by `kcu`.`ORDINAL_POSITION`
select `shop`.`users`.`id`, `shop`.`users`.`email` from `shop`.`users` where `shop`.`users`.`id` = 1
select `t`.`id`, `t`.`rn` from (select `users`.`id`, row_number() over (order by `users`.`id`) as `rn` from `users`) as `t` where `t`.`rn` between 1 and 10
select count(*) over () as `n`, `users`.`id` from `users` limit 1
SHOW VARIABLES LIKE 'version'
SELECT @@version, @@lower_case_table_names
SELECT `TABLES`.`TABLE_NAME`, `TABLES`.`TABLE_COLLATION`, `CCSA`.`CHARACTER_SET_NAME`, `TABLES`.`AUTO_INCREMENT`, `TABLES`.`TABLE_COMMENT`, `TABLES`.`CREATE_OPTIONS` FROM `INFORMATION_SCHEMA`.`TABLES` LEFT JOIN `INFORMATION_SCHEMA`.`COLLATION_CHARACTER_SET_APPLICABILITY` AS `CCSA` ON `TABLES`.`TABLE_COLLATION` = `CCSA`.`COLLATION_NAME` WHERE `TABLES`.`TABLE_SCHEMA` IN ('shop')
SELECT `t1`.`CONSTRAINT_NAME`, `t1`.`TABLE_NAME`, `t2`.`CHECK_CLAUSE` FROM `INFORMATION_SCHEMA`.`TABLE_CONSTRAINTS` AS `t1` JOIN `INFORMATION_SCHEMA`.`CHECK_CONSTRAINTS` AS `t2` ON `t1`.`CONSTRAINT_NAME` = `t2`.`CONSTRAINT_NAME` WHERE `t1`.`CONSTRAINT_TYPE` = 'CHECK' AND `t1`.`TABLE_SCHEMA` = 'shop'
SELECT `users`.`id`, `users`.`email` FROM `users` WHERE EXISTS (SELECT `orders`.`user_id` FROM `orders` WHERE `users`.`id` = `orders`.`user_id`) LIMIT 2
INSERT INTO `users` (`name`, `email`) VALUES ('n', 'n1@example.org') ON DUPLICATE KEY UPDATE `id` = LAST_INSERT_ID(`users`.`id`), `name` = 'n'
INSERT INTO `users` (`name`, `email`) VALUES ('n', 'n1@example.org') ON DUPLICATE KEY UPDATE `id` = LAST_INSERT_ID(`id`)
SELECT * FROM `users` WHERE id > 1 ORDER BY id LIMIT 100

-- MySQL Shell, monitoring, backup agents
SELECT @@global.server_id, @@global.version, @@global.port
SELECT @@basedir IS NOT NULL
SHOW GLOBAL STATUS LIKE 'Uptime'
SHOW GLOBAL VARIABLES LIKE 'max_connections'
SHOW GLOBAL STATUS LIKE 'Threads\_running'
SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_connections', 'version')
SHOW STATUS WHERE Variable_name = 'Threads_connected'
SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected', 'Uptime')
SELECT table_schema, SUM(data_length+index_length) FROM information_schema.tables GROUP BY table_schema
SELECT plugin_name, plugin_status FROM information_schema.plugins
SELECT * FROM information_schema.engines
DESCRIBE mysql.user
SHOW COLUMNS FROM mysql.user
ANALYZE TABLE users
HELP 'select'

-- MySQL of its own: drivers' set-up
[mysql] SELECT @@session.transaction_isolation
[mysql] SELECT @@session.transaction_read_only
[mysql] SELECT @@transaction_isolation, @@autocommit
[mysql] /* mysql-connector-j-9.4.0 (Revision: a7b3c94f6e0d) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout
[mysql] SET SESSION information_schema_stats_expiry=0
[mysql] SET SESSION max_execution_time=2000
[mysql] SET SESSION cte_max_recursion_depth=10000
[mysql] SET SESSION eq_range_index_dive_limit=0
[mysql] SET SESSION sql_require_primary_key=0
[mysql] SELECT @@server_uuid IS NOT NULL, @@gtid_mode, @@enforce_gtid_consistency
[mysql] SELECT /*+ MAX_EXECUTION_TIME(1000) */ id, email FROM users
[mysql] SELECT /*+ SET_VAR(sort_buffer_size = 16M) NO_RANGE_OPTIMIZATION(users) */ id, name FROM users
[mysql] SELECT /*! STRAIGHT_JOIN */ id FROM users
[mysql] SELECT /*!80000 id, */ email FROM users
[mysql] SELECT /*!99999 nothing, */ id FROM users
[mysql] SELECT id /*M! , email */ FROM users

-- MySQL of its own: queries
[mysql] TABLE companies
[mysql] TABLE users ORDER BY id LIMIT 2
[mysql] SELECT * FROM (TABLE companies) AS t
[mysql] VALUES ROW(1, 'a'), ROW(2, 'b')
[mysql] select * from (values row(1, 'a'), row(2, 'b')) as t (a, b)
[mysql] SELECT id, email FROM users WHERE id IN (TABLE hibernate_sequence)
[mysql] SELECT u.id, o.total FROM users u LEFT JOIN LATERAL (SELECT o.total FROM orders o WHERE o.user_id = u.id ORDER BY o.id LIMIT 1) o ON TRUE
[mysql] SELECT u.id, o.card_number FROM users u JOIN LATERAL (SELECT o.card_number FROM orders o WHERE o.user_id = u.id LIMIT 1) AS o
[mysql] SELECT id FROM users INTERSECT SELECT user_id FROM orders
[mysql] SELECT id FROM users EXCEPT SELECT user_id FROM orders
[mysql] SELECT id FROM users INTERSECT ALL SELECT user_id FROM orders ORDER BY 1 LIMIT 5
[mysql] (SELECT id FROM users ORDER BY id LIMIT 1) UNION ALL (SELECT id FROM orders LIMIT 1) ORDER BY 1
[mysql] SELECT p.id, j.color FROM products p, JSON_TABLE(p.attrs, '$' COLUMNS (n FOR ORDINALITY, color VARCHAR(20) PATH '$.color')) AS j
[mysql] SELECT p.attrs->>'$.color' AS c, p.attrs->'$.color' FROM products p WHERE p.attrs->>'$.color' = 'red'
[mysql] SELECT id FROM products WHERE 'red' MEMBER OF (attrs->'$.color')
[mysql] SELECT JSON_VALUE(attrs, '$.color' RETURNING CHAR(10)) FROM products
[mysql] SELECT JSON_OBJECTAGG(name, price), JSON_ARRAYAGG(id) FROM products
[mysql] WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT i FROM n
[mysql] WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT n.i, u.email FROM n LEFT JOIN users u ON u.id = n.i
[mysql] SELECT company_id, GROUPING(company_id), COUNT(*) FROM users GROUP BY company_id WITH ROLLUP
[mysql] SELECT id, LAG(created_at) OVER w, NTILE(2) OVER w, FIRST_VALUE(email) OVER w FROM users WINDOW w AS (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
[mysql] SELECT id, SUM(total) OVER (PARTITION BY user_id ORDER BY created_at RANGE BETWEEN INTERVAL 7 DAY PRECEDING AND CURRENT ROW) FROM orders
[mysql] SELECT id, PERCENT_RANK() OVER (ORDER BY total), CUME_DIST() OVER (ORDER BY total) FROM orders
[mysql] SELECT id, email FROM users WHERE id = 1 FOR UPDATE OF users SKIP LOCKED
[mysql] SELECT id FROM users WHERE id = 1 FOR SHARE NOWAIT
[mysql] SELECT BIN_TO_UUID(UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db', 1), 1), REGEXP_LIKE('abc', 'a'), REGEXP_REPLACE(name, 'a', 'b') FROM users
[mysql] SELECT ANY_VALUE(email), company_id FROM users GROUP BY company_id
[mysql] SELECT CAST(total AS DOUBLE), CAST(orders.created_at AS DATETIME(3)), CAST('[1]' AS JSON), CAST(id AS YEAR), CONVERT(name USING utf8mb4) FROM orders JOIN users USING (id)
[mysql] SELECT ST_AsText(ST_GeomFromText('POINT(1 1)')), ST_Distance_Sphere(POINT(1, 1), POINT(2, 2))
[mysql] SELECT INET6_NTOA(INET6_ATON('::1')), IS_UUID('x'), CRC32('a'), FORMAT_BYTES(1024), FORMAT_PICO_TIME(1000)
[mysql] SELECT 1 FROM DUAL WHERE 1 = 0 UNION TABLE hibernate_sequence
[mysql] EXPLAIN FORMAT=TREE SELECT id FROM companies
[mysql] EXPLAIN FORMAT=JSON SELECT id FROM companies WHERE id = 1
[mysql] EXPLAIN FORMAT=TRADITIONAL SELECT id FROM companies WHERE id = 1
[mysql] DESCRIBE users email
[mysql] EXPLAIN users

-- MySQL of its own: writes
[mysql] INSERT INTO products (id, sku, name, stock) VALUES (1, 's', 'n', 2) AS new ON DUPLICATE KEY UPDATE stock = products.stock + new.stock
[mysql] INSERT INTO products (id, sku, name, stock) VALUES (1, 's', 'n', 2) AS new (a, b, c, d) ON DUPLICATE KEY UPDATE name = c, stock = d
[mysql] INSERT INTO users (id, name, email) VALUES (1, 'Al', 'al2@example.org') AS new ON DUPLICATE KEY UPDATE email = new.email, name = new.name
[mysql] INSERT INTO products SET id = 2, sku = 'q', stock = 1 AS new ON DUPLICATE KEY UPDATE stock = new.stock
[mysql] INSERT INTO companies (id, name) TABLE companies ON DUPLICATE KEY UPDATE name = 'same'
[mysql] INSERT INTO schema_migrations (version) VALUES ROW('r1'), ROW('r2')
[mysql] INSERT INTO companies (name) SELECT dt.name FROM (SELECT name FROM users LIMIT 1) AS dt ON DUPLICATE KEY UPDATE name = dt.name
[mysql] WITH c AS (SELECT 77 AS id) DELETE FROM companies WHERE id IN (SELECT id FROM c)
[mysql] WITH c AS (SELECT 1 AS id) UPDATE users u JOIN c ON c.id = u.id SET u.phone = '+7'
[mysql] CREATE TEMPORARY TABLE tmp_c AS TABLE companies
[mysql] DROP TEMPORARY TABLE tmp_c

-- MySQL of its own: descriptions
[mysql] SHOW EXTENDED FULL COLUMNS FROM users
[mysql] SHOW INDEX FROM users FROM shop
[mysql] SELECT COLUMN_NAME, JSON_EXTRACT('{}', '$') FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop'
[mysql] SELECT * FROM information_schema.KEYWORDS WHERE RESERVED = 1 LIMIT 5
[mysql] SELECT * FROM information_schema.VIEW_TABLE_USAGE WHERE VIEW_SCHEMA = 'shop'
[mysql] SELECT * FROM information_schema.VIEW_ROUTINE_USAGE
[mysql] SELECT * FROM information_schema.ST_GEOMETRY_COLUMNS
[mysql] SELECT * FROM information_schema.ST_SPATIAL_REFERENCE_SYSTEMS LIMIT 1
[mysql] SELECT * FROM information_schema.ST_UNITS_OF_MEASURE LIMIT 1
[mysql] SELECT * FROM information_schema.APPLICABLE_ROLES
[mysql] SELECT * FROM information_schema.ENABLED_ROLES
[mysql] SELECT * FROM information_schema.ADMINISTRABLE_ROLE_AUTHORIZATIONS
[mysql] SELECT * FROM information_schema.RESOURCE_GROUPS
[mysql] SELECT * FROM information_schema.TABLES_EXTENSIONS WHERE TABLE_SCHEMA = 'shop'
[mysql] SELECT * FROM information_schema.COLUMNS_EXTENSIONS WHERE TABLE_SCHEMA = 'shop'
[mysql] SELECT * FROM information_schema.SCHEMATA_EXTENSIONS
[mysql] SELECT * FROM information_schema.TABLE_CONSTRAINTS_EXTENSIONS WHERE CONSTRAINT_SCHEMA = 'shop'
[mysql] SELECT * FROM information_schema.USER_ATTRIBUTES
[mysql] SELECT CURRENT_ROLE()
[mysql] SHOW COLLATION WHERE Charset = 'utf8mb4' AND `Default` = 'Yes'
[mysql] SHOW VARIABLES WHERE Variable_name IN ('version', 'transaction_isolation')
[mysql] SHOW CREATE TABLE users
[mysql] SHOW CREATE VIEW company_users
