-- What object mappers and drivers send at the start and for ordinary work. A line
-- "-- name" begins those of another, on a connection of its own.

-- JDBC (Connector/J), HikariCP, Hibernate
[mariadb] /* mysql-connector-j-8.3.0 (Revision: 805f872a57875f311cb82487efcfb070411a3fa0) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@query_cache_size AS query_cache_size, @@query_cache_type AS query_cache_type, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@tx_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout
SET character_set_results = NULL
SET sql_mode='STRICT_TRANS_TABLES'
SHOW WARNINGS
SET autocommit=1
[mariadb] SELECT @@session.tx_isolation
[mariadb] SELECT @@session.tx_read_only
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
SET SESSION TRANSACTION READ WRITE
set session transaction read only
set session transaction read write
SELECT DATABASE()
SELECT version()
/* ping */ SELECT 1
SHOW VARIABLES WHERE Variable_name = 'language' OR Variable_name = 'net_write_timeout' OR Variable_name = 'sql_mode'
SHOW FULL TABLES FROM `shop` LIKE '%'
SHOW FULL COLUMNS FROM `users` FROM `shop` LIKE '%'
SHOW KEYS FROM `users` FROM `shop`
SHOW CREATE TABLE `shop`.`orders`
SHOW COLLATION
SHOW CHARACTER SET
SHOW ENGINES
SELECT TABLE_SCHEMA AS TABLE_CAT, NULL AS TABLE_SCHEM, TABLE_NAME, CASE WHEN TABLE_TYPE='BASE TABLE' THEN CASE WHEN TABLE_SCHEMA = 'mysql' OR TABLE_SCHEMA = 'performance_schema' THEN 'SYSTEM TABLE' ELSE 'TABLE' END WHEN TABLE_TYPE='TEMPORARY' THEN 'LOCAL_TEMPORARY' ELSE TABLE_TYPE END AS TABLE_TYPE, TABLE_COMMENT AS REMARKS, NULL AS TYPE_CAT FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME LIKE '%' HAVING TABLE_TYPE IN ('TABLE',null,null,null,null) ORDER BY TABLE_TYPE, TABLE_SCHEMA, TABLE_NAME
SELECT TABLE_SCHEMA TABLE_CAT, NULL TABLE_SCHEM, TABLE_NAME, COLUMN_NAME, CASE data_type WHEN 'bit' THEN -7 WHEN 'varchar' THEN 12 ELSE 1111 END DATA_TYPE, IF(COLUMN_TYPE LIKE '%unsigned%', 1, 0) IS_UNSIGNED, COLUMN_TYPE TYPE_NAME, ORDINAL_POSITION, IS_NULLABLE, IF(EXTRA LIKE '%auto_increment%','YES','NO') IS_AUTOINCREMENT FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'users' ORDER BY TABLE_CAT, TABLE_SCHEM, TABLE_NAME, ORDINAL_POSITION
SELECT A.TABLE_SCHEMA AS TABLE_CAT, A.TABLE_NAME, A.COLUMN_NAME, B.SEQ_IN_INDEX AS KEY_SEQ, B.INDEX_NAME AS PK_NAME FROM INFORMATION_SCHEMA.COLUMNS A, INFORMATION_SCHEMA.STATISTICS B WHERE A.COLUMN_KEY IN ('PRI','pri') AND B.INDEX_NAME='PRIMARY' AND A.TABLE_SCHEMA = 'shop' AND A.TABLE_NAME = 'users' AND B.TABLE_SCHEMA = 'shop' AND B.TABLE_NAME = 'users' AND A.COLUMN_NAME = B.COLUMN_NAME ORDER BY A.COLUMN_NAME
START TRANSACTION
select u1_0.id,u1_0.company_id,c1_0.id,c1_0.name,u1_0.created_at,u1_0.email,u1_0.name,u1_0.phone,u1_0.version from users u1_0 left join companies c1_0 on c1_0.id=u1_0.company_id where u1_0.id=1
select u1_0.id,u1_0.email from users u1_0 where u1_0.email='al@example.org' limit 2
select u1_0.id,u1_0.name from users u1_0 order by u1_0.name limit 0,20
select count(u1_0.id) from users u1_0 where u1_0.deleted_at is null
select next_val as id_val from hibernate_sequence for update
update hibernate_sequence set next_val= 11 where next_val=10
insert into users (company_id,created_at,email,name,phone,version,id) values (1,'2024-06-01 00:00:00','x@example.org','X','+1',0,901)
update users set company_id=1,email='y@example.org',name='Y',phone='+2',version=1 where id=901 and version=0
select o1_0.user_id,o1_0.id,o1_0.card_number,o1_0.total from orders o1_0 where o1_0.user_id in (1,2,3)
select u1_0.id,u1_0.phone from users u1_0 where u1_0.id=1 for update
select u1_0.id,(select sum(o.total) from orders o where o.user_id=u1_0.id) from users u1_0 where exists(select 1 from orders o where o.user_id=u1_0.id)
select distinct u1_0.company_id from users u1_0
delete from users where id=901 and version=1
COMMIT
SELECT LAST_INSERT_ID()
SELECT @@identity

-- Django
SET SQL_AUTO_IS_NULL = 0
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
SELECT VERSION(), @@sql_mode, @@default_storage_engine, @@sql_auto_is_null, @@lower_case_table_names, CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL
SET autocommit = 0
SHOW FULL TABLES
SELECT table_name, table_type, table_comment FROM information_schema.tables WHERE table_schema = DATABASE()
SELECT column_name, data_type, character_maximum_length, numeric_precision, numeric_scale, extra, column_default, CASE WHEN collation_name = 'utf8mb4_general_ci' THEN NULL ELSE collation_name END AS collation_name, CASE WHEN column_type LIKE '% unsigned' THEN 1 ELSE 0 END AS is_unsigned, column_comment FROM information_schema.columns WHERE table_name = 'users' AND table_schema = DATABASE()
SELECT * FROM `users` LIMIT 1
SELECT kc.`constraint_name`, kc.`column_name`, kc.`referenced_table_name`, kc.`referenced_column_name`, c.`constraint_type` FROM information_schema.key_column_usage AS kc, information_schema.table_constraints AS c WHERE kc.table_schema = DATABASE() AND (kc.referenced_table_schema = DATABASE() OR kc.referenced_table_schema IS NULL) AND c.table_schema = kc.table_schema AND c.constraint_name = kc.constraint_name AND c.constraint_type != 'CHECK' AND kc.table_name = 'users' ORDER BY kc.`ordinal_position`
SELECT column_name, referenced_column_name, referenced_table_name FROM information_schema.key_column_usage WHERE table_name = 'users' AND table_schema = DATABASE() AND referenced_table_schema = DATABASE() AND referenced_table_name IS NOT NULL AND referenced_column_name IS NOT NULL
SHOW INDEX FROM `users`
SELECT engine FROM information_schema.tables WHERE table_name = 'users' AND table_schema = DATABASE()
[mariadb] SELECT c.constraint_name, c.check_clause FROM information_schema.check_constraints AS c WHERE c.constraint_schema = DATABASE() AND c.table_name = 'users'
SELECT engine FROM information_schema.engines WHERE support = 'DEFAULT'
SAVEPOINT `s140_x1`
SELECT 1 AS `a` FROM `auth_user` WHERE `auth_user`.`username` = 'amo' LIMIT 1
SELECT `auth_user`.`id`, `auth_user`.`password`, `auth_user`.`last_login`, `auth_user`.`is_superuser`, `auth_user`.`username`, `auth_user`.`email` FROM `auth_user` WHERE `auth_user`.`username` = 'amo' LIMIT 21
SELECT `auth_user`.`id`, `auth_user`.`password` FROM `auth_user` WHERE `auth_user`.`email` = 'al@example.org' ORDER BY `auth_user`.`id` ASC LIMIT 1
[mariadb] INSERT INTO `auth_user` (`password`, `last_login`, `is_superuser`, `username`, `first_name`, `last_name`, `email`, `is_staff`, `is_active`, `date_joined`) VALUES ('pbkdf2', NULL, 0, 'new', '', '', 'n@example.org', 0, 1, '2024-01-01 00:00:00') RETURNING `auth_user`.`id`
UPDATE `auth_user` SET `last_login` = '2024-05-01 12:00:00.000000' WHERE `auth_user`.`id` = 1
INSERT IGNORE INTO `django_session` (`session_key`, `session_data`, `expire_date`) VALUES ('k', 'd', '2030-01-01')
INSERT INTO `django_session` (`session_key`, `session_data`, `expire_date`) VALUES ('k', 'd', '2030-01-01') ON DUPLICATE KEY UPDATE `session_data` = VALUES(`session_data`), `expire_date` = VALUES(`expire_date`)
SELECT COUNT(*) AS `__count` FROM (SELECT `users`.`company_id` AS `col1` FROM `users` GROUP BY 1 ORDER BY NULL) subquery
SELECT `users`.`company_id`, COUNT(`users`.`id`) AS `n` FROM `users` GROUP BY `users`.`company_id` ORDER BY `n` DESC
SELECT `orders`.`id`, CAST(`orders`.`total` AS signed integer) AS `t`, COALESCE(`orders`.`status`, 'none') AS `s`, DATE(`orders`.`created_at`) AS `d`, EXTRACT(YEAR FROM `orders`.`created_at`) AS `y` FROM `orders` INNER JOIN `users` ON (`orders`.`user_id` = `users`.`id`) WHERE (`users`.`name` LIKE BINARY '%A%' AND NOT (`orders`.`status` = 'open' AND `orders`.`status` IS NOT NULL))
SELECT `users`.`id`, ROW_NUMBER() OVER (PARTITION BY `users`.`company_id` ORDER BY `users`.`created_at` DESC) AS `rank` FROM `users` ORDER BY `rank` ASC
ROLLBACK TO SAVEPOINT `s140_x1`
RELEASE SAVEPOINT `s140_x1`
DELETE FROM `order_items` WHERE `order_items`.`order_id` IN (77, 78)
ROLLBACK
SET autocommit = 1

-- SQLAlchemy (pymysql, mysqlclient, asyncmy)
SET NAMES utf8mb4
SET AUTOCOMMIT = 0
SELECT DATABASE()
SELECT @@sql_mode
SELECT @@lower_case_table_names
select 1
SHOW VARIABLES LIKE 'sql_mode'
SHOW VARIABLES LIKE 'lower_case_table_names'
SELECT CAST('test plain returns' AS CHAR(60)) AS anon_1
SELECT CAST('test collated returns' AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_bin AS anon_1
SELECT 'x' AS some_label
DESCRIBE `shop`.`users`
SHOW TABLES FROM `shop`
SHOW CREATE TABLE `users`
SHOW FULL TABLES FROM `shop`
SELECT users.id AS users_id, users.email AS users_email, users.phone AS users_phone FROM users WHERE users.id = 1 LIMIT 1
SELECT users.id, anon_1.n FROM users LEFT OUTER JOIN (SELECT orders.user_id AS user_id, count(orders.id) AS n FROM orders GROUP BY orders.user_id) AS anon_1 ON users.id = anon_1.user_id
WITH recent AS (SELECT orders.id AS id, orders.card_number AS card_number FROM orders WHERE orders.total > 10) SELECT recent.id, recent.card_number FROM recent
INSERT INTO products (sku, name, price, stock, attrs) VALUES ('a', 'A', 1, 1, '{}'), ('b', 'B', 2, 2, NULL)
INSERT INTO products (id, sku, name) VALUES (1, 'SKU1', 'Lamp') ON DUPLICATE KEY UPDATE name = VALUES(name), stock = products.stock + 1
SELECT users.id FROM users WHERE users.id IN (1, 2, 3) ORDER BY users.id FOR UPDATE SKIP LOCKED
SELECT users.id FROM users WHERE users.id = 1 LOCK IN SHARE MODE
SELECT JSON_EXTRACT(products.attrs, '$."color"') AS anon_1 FROM products WHERE JSON_UNQUOTE(JSON_EXTRACT(products.attrs, '$."color"')) = 'red'
COMMIT
ROLLBACK

-- GORM (go-sql-driver)
SELECT VERSION()
SET NAMES utf8mb4
SELECT DATABASE()
SELECT SCHEMA_NAME from Information_schema.SCHEMATA where SCHEMA_NAME LIKE 'shop%' ORDER BY SCHEMA_NAME='shop' DESC,SCHEMA_NAME limit 1
SELECT count(*) FROM information_schema.tables WHERE table_schema = 'shop' AND table_name = 'users' AND table_type = 'BASE TABLE'
SELECT column_name, column_default, is_nullable = 'YES', data_type, character_maximum_length, column_type, column_key, extra, column_comment, numeric_precision, numeric_scale , datetime_precision FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'users' ORDER BY ORDINAL_POSITION
SELECT * FROM `users` LIMIT 1
SELECT count(*) FROM information_schema.statistics WHERE table_schema = 'shop' AND table_name = 'users' AND index_name = 'email'
SELECT count(*) FROM INFORMATION_SCHEMA.table_constraints WHERE constraint_schema = 'shop' AND table_name = 'users' AND constraint_name = 'fk_x'
SELECT `TABLE_NAME`,`COLUMN_NAME`,`INDEX_NAME`,`NON_UNIQUE` FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'users' ORDER BY `INDEX_NAME`,`SEQ_IN_INDEX`
START TRANSACTION
SAVEPOINT sp0x1
INSERT INTO `users` (`name`,`email`,`phone`,`version`,`created_at`,`updated_at`,`deleted_at`) VALUES ('G','g@example.org','+3',0,'2024-06-01 10:00:00','2024-06-01 10:00:00',NULL)
INSERT INTO `users` (`id`,`name`,`email`) VALUES (1,'Al','al@example.org') ON DUPLICATE KEY UPDATE `name`=VALUES(`name`),`email`=VALUES(`email`)
INSERT INTO `users` (`id`,`name`,`email`) VALUES (1,'Al','al@example.org') ON DUPLICATE KEY UPDATE `id`=`id`
SELECT * FROM `users` WHERE `users`.`id` = 1 AND `users`.`deleted_at` IS NULL ORDER BY `users`.`id` LIMIT 1
SELECT * FROM `users` WHERE email = 'al@example.org' AND `users`.`deleted_at` IS NULL LIMIT 1
UPDATE `users` SET `deleted_at`='2024-06-01' WHERE `users`.`id` = 3 AND `users`.`deleted_at` IS NULL
UPDATE `users` SET `name`='n',`updated_at`='2024-06-01' WHERE `id` = 2
UPDATE `orders` SET `total`=total * 2 WHERE id IN (1,2)
SELECT `users`.`id`,`users`.`email`,`Company`.`id` AS `Company__id`,`Company`.`name` AS `Company__name` FROM `users` LEFT JOIN `companies` `Company` ON `users`.`company_id` = `Company`.`id`
SELECT count(*) FROM `users` WHERE name = 'n'
SELECT `name`, sum(version) as total FROM `users` GROUP BY `name` HAVING sum(version) > 0
ROLLBACK TO SAVEPOINT sp0x1
ROLLBACK

-- ActiveRecord (mysql2, trilogy)
SET @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), @@SESSION.wait_timeout = 2147483
SET  @@SESSION.sql_mode = CONCAT(CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), ',NO_AUTO_VALUE_ON_ZERO'),  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483
SHOW VARIABLES LIKE 'version'
SELECT VERSION()
SHOW FULL FIELDS FROM `users`
SHOW KEYS FROM `users`
SHOW CREATE TABLE `users`
SHOW TABLES LIKE 'users'
SELECT table_name FROM (SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = database()) _subquery WHERE _subquery.table_type = 'BASE TABLE'
SELECT table_name FROM (SELECT * FROM information_schema.tables WHERE table_schema = database()) _subquery WHERE _subquery.table_name = 'schema_migrations'
SELECT column_name FROM information_schema.statistics WHERE index_name = 'PRIMARY' AND table_schema = database() AND table_name = 'users' ORDER BY seq_in_index
SELECT table_comment FROM information_schema.tables WHERE table_schema = database() AND table_name = 'users'
SELECT fk.referenced_table_name AS 'to_table', fk.referenced_column_name AS 'primary_key', fk.column_name AS 'column', fk.constraint_name AS 'name', fk.ordinal_position AS 'position', rc.update_rule AS 'on_update', rc.delete_rule AS 'on_delete' FROM information_schema.referential_constraints rc JOIN information_schema.key_column_usage fk USING (constraint_schema, constraint_name) WHERE fk.referenced_column_name IS NOT NULL AND fk.table_schema = database() AND fk.table_name = 'users' AND rc.constraint_schema = database() AND rc.table_name = 'users'
SELECT cc.constraint_name AS 'name', cc.check_clause AS 'expression' FROM information_schema.check_constraints cc JOIN information_schema.table_constraints tc USING (constraint_schema, constraint_name) WHERE tc.table_schema = database() AND tc.table_name = 'users' AND cc.constraint_schema = database()
SELECT DATABASE() as db
SELECT @@max_allowed_packet
SELECT @@collation_database
SELECT GET_LOCK('3847392847', 0)
SELECT `schema_migrations`.`version` FROM `schema_migrations` ORDER BY `schema_migrations`.`version` ASC
SELECT RELEASE_LOCK('3847392847')
BEGIN
SAVEPOINT active_record_1
SELECT 1 AS one FROM `users` WHERE `users`.`email` = 'al@example.org' LIMIT 1
SELECT 1 AS one FROM `users` WHERE `users`.`email` = BINARY 'al@example.org' LIMIT 1
INSERT INTO `users` (`name`, `email`, `created_at`, `updated_at`) VALUES ('R', 'r@example.org', '2024-06-01 00:00:00', '2024-06-01 00:00:00')
INSERT INTO `users` (`id`,`name`,`email`) VALUES (1, 'Al', 'al@example.org') ON DUPLICATE KEY UPDATE `name`=VALUES(`name`),`email`=VALUES(`email`)
SELECT `users`.* FROM `users` WHERE `users`.`id` = 1 LIMIT 1 FOR UPDATE
SELECT `users`.`id` AS t0_r0, `users`.`email` AS t0_r1, `orders`.`id` AS t1_r0 FROM `users` LEFT OUTER JOIN `orders` ON `orders`.`user_id` = `users`.`id` WHERE `users`.`id` IN (1, 2)
SELECT COUNT(*) FROM `users`
SELECT COUNT(DISTINCT `users`.`company_id`) FROM `users`
SELECT SUM(`orders`.`total`) AS sum_total, `orders`.`status` AS orders_status FROM `orders` GROUP BY `orders`.`status`
UPDATE `users` SET `users`.`name` = 'Q', `users`.`updated_at` = '2024-06-01' WHERE `users`.`id` = 1
UPDATE `users` SET `users`.`version` = COALESCE(`users`.`version`, 0) + 1 WHERE `users`.`id` = 1
DELETE FROM `users` WHERE `users`.`id` = 77
RELEASE SAVEPOINT active_record_1
ROLLBACK

-- Prisma
SELECT @@version
SELECT @@socket
SELECT VERSION()
SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'shop'
SELECT DISTINCT table_info.table_name AS table_name, table_info.create_options AS create_options, table_info.table_comment AS table_comment FROM information_schema.tables AS table_info JOIN information_schema.columns AS column_info ON BINARY column_info.table_name = BINARY table_info.table_name WHERE table_info.table_schema = 'shop' AND column_info.table_schema = 'shop' AND table_info.table_type = 'BASE TABLE' ORDER BY BINARY table_info.table_name
BEGIN
SELECT `shop`.`users`.`id`, `shop`.`users`.`email`, `shop`.`users`.`name` FROM `shop`.`users` WHERE (`shop`.`users`.`email` = 'al@example.org' AND 1=1) LIMIT 1 OFFSET 0
SELECT `shop`.`users`.`id`, `shop`.`users`.`email` FROM `shop`.`users` WHERE 1=1 ORDER BY `shop`.`users`.`id` ASC LIMIT 10 OFFSET 0
INSERT INTO `shop`.`users` (`id`,`name`,`email`,`version`) VALUES (950,'P','p@example.org',0)
SELECT COUNT(*) FROM (SELECT `shop`.`users`.`id` FROM `shop`.`users` WHERE 1=1 LIMIT 18446744073709551615 OFFSET 0) AS `sub`
SELECT `t1`.`id`, `t1`.`phone`, `aggr_selection_0_orders`.`_aggr_count_orders` FROM `shop`.`users` AS `t1` LEFT JOIN (SELECT `shop`.`orders`.`user_id`, COUNT(*) AS `_aggr_count_orders` FROM `shop`.`orders` WHERE 1=1 GROUP BY `shop`.`orders`.`user_id`) AS `aggr_selection_0_orders` ON (`t1`.`id` = `aggr_selection_0_orders`.`user_id`) WHERE 1=1
UPDATE `shop`.`users` SET `name` = 'N' WHERE (`shop`.`users`.`id` IN (1) AND (`shop`.`users`.`id` = 1 AND 1=1))
DELETE FROM `shop`.`users` WHERE (`shop`.`users`.`id` IN (950) AND (`shop`.`users`.`id` = 950 AND 1=1))
ROLLBACK

-- Drizzle (mysql2), TypeORM, Sequelize, Knex
SELECT 1+1 AS result
SELECT VERSION() as `version`
SELECT DATABASE() AS `db_name`
[mariadb] SELECT @@session.tx_isolation
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ
START TRANSACTION
select `id`, `name`, `email` from `users` where `users`.`email` = 'al@example.org' limit 1
select `users`.`id`, `users`.`email`, coalesce((select json_arrayagg(json_array(`o`.`id`, `o`.`total`)) from `orders` `o` where `o`.`user_id` = `users`.`id`), json_array()) as `orders` from `users`
insert into `users` (`id`, `name`, `email`, `phone`, `version`) values (default, 'D', 'd@example.org', default, 0)
insert into `users` (`id`, `name`, `email`) values (1, 'Al', 'al@example.org') on duplicate key update `name` = values(`name`)
SELECT `User`.`id` AS `User_id`, `User`.`email` AS `User_email` FROM `users` `User` WHERE `User`.`id` = 1 LIMIT 1
SELECT DISTINCT `distinctAlias`.`User_id` AS `ids_User_id` FROM (SELECT `User`.`id` AS `User_id`, `User`.`email` AS `User_email`, `o`.`id` AS `o_id` FROM `users` `User` LEFT JOIN `orders` `o` ON `o`.`user_id`=`User`.`id`) `distinctAlias` ORDER BY `User_id` ASC LIMIT 10
SELECT * FROM `INFORMATION_SCHEMA`.`COLUMNS` WHERE `TABLE_SCHEMA` = 'shop' AND `TABLE_NAME` = 'users'
SELECT `TABLE_SCHEMA`, `TABLE_NAME`, `TABLE_COMMENT` FROM `INFORMATION_SCHEMA`.`TABLES` WHERE `TABLE_SCHEMA` = 'shop' AND `TABLE_NAME` = 'users'
SELECT * FROM `INFORMATION_SCHEMA`.`KEY_COLUMN_USAGE` WHERE `TABLE_SCHEMA` = 'shop' AND `CONSTRAINT_NAME` = 'PRIMARY'
SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME = 'users' AND TABLE_SCHEMA = 'shop'
SHOW INDEX FROM `users`
SELECT count(*) AS `count` FROM `users` AS `User` WHERE (`User`.`deleted_at` IS NULL AND `User`.`name` LIKE '%l%')
SELECT `User`.*, `orders`.`id` AS `orders.id`, `orders`.`card_number` AS `orders.card_number` FROM (SELECT `User`.`id`, `User`.`email` FROM `users` AS `User` LIMIT 5) AS `User` LEFT OUTER JOIN `orders` AS `orders` ON `User`.`id` = `orders`.`user_id`
UPDATE `users` SET `name`='u',`updated_at`='2024-06-01' WHERE `id` = 1
INSERT INTO `users` (`id`,`name`,`email`) VALUES (DEFAULT,'S','s@example.org')
ROLLBACK
set session transaction isolation level read committed
set transaction isolation level read committed

-- Laravel (PDO)
use `shop`
set names 'utf8mb4' collate 'utf8mb4_unicode_ci'
SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci', SESSION sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'
set time_zone='+00:00'
set session sql_mode='STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'
select exists (select 1 from information_schema.tables where table_schema = 'shop' and table_name = 'migrations' and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')) as `exists`
select table_name as `name`, (data_length + index_length) as `size`, table_comment as `comment`, engine as `engine`, table_collation as `collation` from information_schema.tables where table_schema = 'shop' and table_type in ('BASE TABLE', 'SYSTEM VERSIONED') order by table_name
select column_name as `name`, data_type as `type_name`, column_type as `type`, collation_name as `collation`, is_nullable as `nullable`, column_default as `default`, column_comment as `comment`, generation_expression as `expression`, extra as `extra` from information_schema.columns where table_schema = 'shop' and table_name = 'users' order by ordinal_position asc
select index_name as `name`, group_concat(column_name order by seq_in_index) as `columns`, index_type as `type`, not non_unique as `unique` from information_schema.statistics where table_schema = 'shop' and table_name = 'users' group by index_name, index_type, non_unique
select `email`, `phone` from `users` where `id` = 1 limit 1
select * from `users` where `email` = 'al@example.org' and `users`.`deleted_at` is null limit 1
select count(*) as aggregate from `users` where `email` = 'al@example.org'
select exists(select * from `users` where `name` = 'Al') as `exists`
select `users`.*, (select count(*) from `orders` where `users`.`id` = `orders`.`user_id`) as `orders_count` from `users`
select * from `orders` where `orders`.`user_id` in (1, 2, 3)
select * from `products` where json_unquote(json_extract(`attrs`, '$."color"')) = 'red'
select * from `users` order by `id` asc limit 15 offset 15
select max(`total`) as aggregate from `orders`
insert into `users` (`name`, `email`, `updated_at`, `created_at`) values ('L', 'l@example.org', '2024-06-01 00:00:00', '2024-06-01 00:00:00')
insert into `users` (`id`, `name`, `email`) values (1, 'Al', 'al@example.org') on duplicate key update `email` = values(`email`)
insert ignore into `companies` (`id`, `name`) values (1, 'Acme')
update `users` set `phone` = '+9', `users`.`updated_at` = '2024-06-01 00:00:00' where `id` = 1
update `products` set `stock` = `stock` + 1, `attrs` = json_set(`attrs`, '$."color"', 'blue') where `id` = 1
delete from `users` where `id` = 99
select * from `users` where `id` = 1 limit 1 for update
START TRANSACTION
SAVEPOINT trans2
ROLLBACK TO SAVEPOINT trans2
select * from `users` where `id` in (select `user_id` from `orders` where `total` > 10)
select `users`.`id`, `orders`.`total` from `users` inner join `orders` on `users`.`id` = `orders`.`user_id` where (`orders`.`status` = 'paid' or `orders`.`status` = 'open')

-- Entity Framework, Ent, sqlx, mysql client
SET NAMES utf8mb4
select @@version_comment limit 1
select USER()
SELECT CONNECTION_ID()
show databases
show tables
SELECT `u`.`id`, `u`.`email`, `u`.`phone` FROM `users` AS `u` WHERE `u`.`id` = 1 LIMIT 2
SELECT `u`.`id`, `t`.`id`, `t`.`card_number` FROM `users` AS `u` LEFT JOIN (SELECT `o`.`id`, `o`.`card_number`, `o`.`user_id` FROM `orders` AS `o` WHERE `o`.`total` > 1.0) AS `t` ON `u`.`id` = `t`.`user_id` ORDER BY `u`.`id`
INSERT INTO `companies` (`name`) VALUES ('E')
SELECT `id` FROM `companies` WHERE ROW_COUNT() = 1 AND `id` = LAST_INSERT_ID()
SELECT ROW_COUNT()
SELECT FOUND_ROWS()
SELECT CASE WHEN EXISTS (SELECT 1 FROM `users` AS `u` WHERE `u`.`name` = 'Al') THEN TRUE ELSE FALSE END
SELECT UUID()
SELECT NOW(6), UTC_TIMESTAMP(), CURRENT_DATE
SET time_zone = '+00:00', sql_mode = 'ANSI'
SELECT "u"."id", "u"."email" FROM "users" AS "u" WHERE "u"."name" = 'Al'
SET sql_mode = ''
set sql_safe_updates=1, sql_select_limit=1000, max_join_size=1000000
SHOW SESSION VARIABLES LIKE 'lower_case_table_names'
SHOW STATUS LIKE 'Ssl_cipher'
SHOW SESSION STATUS LIKE 'Ssl_version'
SHOW GLOBAL STATUS LIKE 'Threads_connected'
EXPLAIN SELECT id, name FROM companies WHERE id = 1
SHOW CREATE DATABASE shop
LOCK TABLES users READ /*!32311 LOCAL */, orders AS o WRITE
UNLOCK TABLES
select table_name as `name`, view_definition as `definition` from information_schema.views where table_schema = 'shop' order by table_name
[mariadb] SELECT s.seq FROM seq_1_to_12 s LEFT JOIN orders o ON MONTH(o.created_at) = s.seq
SHOW GRANTS
SHOW PLUGINS

-- Metabase, Superset, Tableau, JDBC
SELECT TABLE_NAME, TABLE_ROWS, ENGINE, TABLE_COLLATION FROM information_schema.tables WHERE table_schema = 'shop' AND table_type = 'BASE TABLE' ORDER BY table_name
SELECT column_name, ordinal_position, column_default, is_nullable, data_type, column_type, column_key, extra FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position
SELECT k.CONSTRAINT_NAME, k.TABLE_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE k WHERE k.TABLE_SCHEMA = 'shop' AND k.REFERENCED_TABLE_NAME IS NOT NULL
SELECT A.TABLE_SCHEMA AS FKTABLE_SCHEM, A.TABLE_NAME AS FKTABLE_NAME, A.COLUMN_NAME AS FKCOLUMN_NAME FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE A, INFORMATION_SCHEMA.TABLE_CONSTRAINTS B WHERE A.TABLE_SCHEMA = 'shop' AND A.CONSTRAINT_NAME = B.CONSTRAINT_NAME AND B.CONSTRAINT_TYPE = 'FOREIGN KEY'
SELECT NULL AS TABLE_CAT, TABLE_SCHEMA, TABLE_NAME, CASE WHEN TABLE_TYPE='BASE TABLE' THEN 'TABLE' ELSE TABLE_TYPE END AS TABLE_TYPE, TABLE_COMMENT AS REMARKS FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA LIKE 'shop' ORDER BY TABLE_TYPE, TABLE_SCHEMA, TABLE_NAME
SELECT character_set_name FROM information_schema.character_sets LIMIT 3

-- settings kept and given back, ends of transactions, care of tables
SET @mode = @@sql_mode, @client = @@character_set_client, @results = @@character_set_results
SET sql_mode = 'ANSI_QUOTES', character_set_results = NULL
SELECT "id" FROM "users" LIMIT 1
SET sql_mode = @mode
SET character_set_client = @client, character_set_results = @results
SELECT 'a' FROM users LIMIT 1
SET NAMES DEFAULT
SET sort_buffer_size = @@GLOBAL.sort_buffer_size, group_concat_max_len = 1024*1024
[mariadb] SET @notes = @@note_verbosity, note_verbosity = 0
START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY
COMMIT AND CHAIN
COMMIT WORK AND NO CHAIN NO RELEASE
BEGIN
ROLLBACK AND NO CHAIN

-- hints
SELECT id FROM users USE INDEX (PRIMARY) WHERE id > 1
SELECT u.id FROM users u FORCE INDEX FOR ORDER BY (PRIMARY) ORDER BY u.id

-- definitions
CREATE TABLE made (id INT PRIMARY KEY, n INT CHECK (n > 0), CONSTRAINT below CHECK (n < 1000))
CREATE TABLE made_of (id INT PRIMARY KEY, made_id INT, FOREIGN KEY (made_id) REFERENCES made (id) ON DELETE CASCADE)
CREATE TABLE made_like LIKE made
CREATE TEMPORARY TABLE made_for_now LIKE made
INSERT INTO made_for_now VALUES (1, 2)
SELECT id, n FROM made_for_now
