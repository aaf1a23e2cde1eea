package lineage

import (
	"strings"

	"github.com/veildb/veildb/internal/sql/sqlast"
)

// A fnClass is what is known of a function; the zero value is nothing, and such
// a function may be stored or loadable and do anything.
type fnClass byte

const (
	fnUnknown fnClass = iota
	fnPure            // depends on its arguments, the session and the clock, and changes nothing
	fnState           // reads what the session's statements did
	fnEffect          // changes or shows something beside its value
)

// functions lists the built-in functions restricted accounts may call. The
// server takes none of these names for a stored function.
var functions = func() map[string]fnClass {
	m := map[string]fnClass{}
	for class, list := range map[fnClass]string{fnPure: pureFunctions, fnState: stateFunctions, fnEffect: effectFunctions} {
		for _, n := range strings.Fields(list) {
			m[n] = class
		}
	}
	return m
}()

const pureFunctions = `
abs acos add_months adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg bin bit_and bit_count bit_length bit_or bit_xor
cast ceil ceiling char char_func char_length character_length charset chr coalesce coercibility collation column_add column_check column_create
column_exists column_get column_json column_list compress concat concat_operator_oracle concat_ws
connection_id conv convert convert_tz cos cot count crc32 crc32c cume_dist curdate current_date current_role current_time current_timestamp
current_user curtime database date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear
decode default degrees dense_rank des_decrypt des_encrypt elt encode encrypt exp export_set extract field find_in_set first_value floor format
format_bytes format_pico_time from_base64 from_days from_unixtime get_format greatest group_concat hex hour if ifnull inet6_aton inet6_ntoa inet_aton
inet_ntoa insert insert_func instr interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 isnull json_array json_array_append json_array_insert
json_arrayagg json_compact json_contains json_contains_path json_depth json_detailed json_equals json_exists json_extract json_insert json_keys
json_length json_loose json_memberof json_merge json_merge_patch json_merge_preserve json_normalize json_object json_objectagg json_overlaps json_pretty
json_query json_quote json_remove json_replace json_search json_set json_type json_unquote json_valid json_value
lag last_day last_value lcase lead least left length lengthb ln localtime localtimestamp locate log log10 log2 lower lpad ltrim
make_set makedate maketime match max md5 median microsecond mid min minute mod month monthname name_const natural_sort_key now nth_value ntile nullif
nvl nvl2 oct octet_length old_password ord password percent_rank percentile_cont percentile_disc period_add period_diff pi position pow power
quarter quote radians rand random_bytes rank regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right round row_number
rpad rtrim schema sec_to_time second session_user sformat sha sha1 sha2 sign sin soundex space sqrt std stddev stddev_pop stddev_samp
str_to_date strcmp subdate substr substring substring_index subtime sum sys_guid sysdate system_user tan time time_format time_to_sec
timediff timestamp timestampadd timestampdiff to_base64 to_char to_days to_seconds trim truncate
ucase uncompress uncompressed_length unhex unix_timestamp upper user utc_date utc_time utc_timestamp uuid uuid_short uuid_to_bin bin_to_uuid is_uuid
value values var_pop var_samp variance version week weekday weekofyear weight_string year yearweek
json_schema_valid json_storage_size grouping
string_to_vector to_vector vector_to_string from_vector vector_dim distance vector_distance
geometrycollection linestring multilinestring multipoint multipolygon point polygon mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequals
mbrintersects mbroverlaps mbrtouches mbrwithin st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_boundary st_buffer st_centroid st_contains
st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring
st_geohash st_geometryn st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_interiorringn st_intersection st_intersects
st_isclosed st_isempty st_isring st_issimple st_isvalid st_latitude st_length st_linefromtext st_longitude st_makeenvelope st_numgeometries
st_numinteriorrings st_numpoints st_overlaps st_pointfromgeohash st_pointfromtext st_pointn st_pointonsurface st_polyfromtext st_relate st_simplify st_srid
st_startpoint st_symdifference st_touches st_transform st_union st_validate st_within st_x st_y`

const stateFunctions = `found_rows row_count lastval is_free_lock is_used_lock`

// LAST_INSERT_ID without arguments reads.
const effectFunctions = `last_insert_id get_lock release_lock release_all_locks nextval setval sleep`

// random are pure functions whose value differs from row to row.
var random = words(`rand random_bytes uuid uuid_short sys_guid sysdate`)

// typeOnly are functions of their argument's type alone.
var typeOnly = words(`charset collation coercibility`)

// textFunctions are pure functions whose value is always a text.
var textFunctions = words(`
aes_decrypt aes_encrypt char char_func compress concat concat_ws convert current_user database from_base64 hex insert_func lcase left lower lpad ltrim md5
mid password quote repeat replace reverse right rpad rtrim schema session_user sha sha1 sha2 soundex space substr substring substring_index
system_user to_base64 trim ucase uncompress unhex upper user uuid_to_bin`)

// readableVariables lists the system variables restricted accounts may read:
// what drivers ask for at the start. The others can hold values of statements.
var readableVariables = words(`
auto_increment_increment auto_increment_offset autocommit character_set_client character_set_connection character_set_database
character_set_results character_set_server character_set_system collation_connection collation_database collation_server
default_storage_engine div_precision_increment foreign_key_checks have_openssl have_query_cache have_ssl hostname init_connect innodb_lock_wait_timeout
innodb_version interactive_timeout join_buffer_size language lc_time_names license lock_wait_timeout lower_case_file_system lower_case_table_names
max_allowed_packet max_connections max_statement_time net_buffer_length net_read_timeout net_write_timeout performance_schema port
protocol_version socket query_cache_size query_cache_type read_only identity last_insert_id innodb_read_only server_id default_week_format sql_warnings sql_auto_is_null sql_big_selects sql_mode sql_notes sql_quote_show_create
sql_safe_updates sql_select_limit storage_engine system_time_zone table_type thread_handling time_zone transaction_isolation
transaction_read_only tx_isolation tx_read_only unique_checks version version_comment version_compile_machine version_compile_os
wait_timeout session_track_schema session_track_system_variables
basedir big_tables binlog_format bulk_insert_buffer_size character_sets_dir completion_type cte_max_recursion_depth datadir date_format datetime_format
default_authentication_plugin default_collation_for_utf8mb4 default_tmp_storage_engine eq_range_index_dive_limit event_scheduler
explicit_defaults_for_timestamp flush have_compress have_dynamic_loading have_geometry have_innodb have_partitioning have_profiling have_rtree_keys
have_symlink group_concat_max_len information_schema_stats_expiry innodb_autoinc_lock_mode innodb_buffer_pool_size innodb_default_row_format
innodb_file_format innodb_file_per_table innodb_flush_log_at_trx_commit innodb_large_prefix innodb_page_size innodb_strict_mode key_buffer_size
large_files_support lc_messages local_infile log_bin log_bin_trust_function_creators long_query_time low_priority_updates lower_case_file_system
max_connect_errors max_execution_time max_heap_table_size max_join_size max_length_for_sort_data max_prepared_stmt_count max_recursive_iterations
max_sort_length max_sp_recursion_depth max_tmp_tables max_user_connections mysqlx_port named_pipe net_retry_count new old_mode old_passwords
optimizer_prune_level optimizer_search_depth optimizer_switch note_verbosity partial_revokes pid_file plugin_dir preload_buffer_size query_alloc_block_size
query_cache_limit query_prealloc_size range_alloc_block_size read_buffer_size read_rnd_buffer_size require_secure_transport
server_uuid show_create_table_verbosity skip_networking skip_show_database slow_query_log sort_buffer_size sql_generate_invisible_primary_key
sql_if_exists sql_log_bin sql_log_off sql_require_primary_key ssl_ca super_read_only sync_binlog system_versioning_alter_history table_definition_cache
table_open_cache thread_cache_size thread_stack time_format tls_version tmp_table_size tmpdir transaction_alloc_block_size tx_isolation
updatable_views_with_limit use_stat_tables version_ssl_library windowing_use_high_precision default_password_lifetime disabled_storage_engines
enforce_gtid_consistency gtid_mode gtid_domain_id gtid_strict_mode wsrep_on pxc_strict_mode group_replication_group_name system_user tidb_version`)

// settableVariables lists what restricted accounts may set, to constants.
var settableVariables = words(`
autocommit character_set_client character_set_connection character_set_results collation_connection foreign_key_checks
innodb_lock_wait_timeout interactive_timeout join_buffer_size lc_time_names lock_wait_timeout max_join_size max_statement_time
net_read_timeout net_write_timeout group_concat_max_len session_track_schema session_track_system_variables sort_buffer_size
sql_auto_is_null sql_big_selects sql_mode sql_notes sql_quote_show_create sql_safe_updates sql_select_limit sql_warnings
time_zone transaction_isolation transaction_read_only tx_isolation tx_read_only unique_checks wait_timeout
big_tables bulk_insert_buffer_size completion_type cte_max_recursion_depth default_storage_engine default_tmp_storage_engine default_week_format
div_precision_increment eq_range_index_dive_limit information_schema_stats_expiry innodb_strict_mode lc_messages long_query_time
low_priority_updates max_execution_time max_heap_table_size max_length_for_sort_data max_recursive_iterations max_sort_length
net_retry_count optimizer_prune_level optimizer_search_depth optimizer_switch range_alloc_block_size read_buffer_size
read_rnd_buffer_size session_track_state_change show_create_table_verbosity sql_if_exists sql_require_primary_key
tmp_table_size updatable_views_with_limit windowing_use_high_precision note_verbosity`)

// statementVariables lists what SET STATEMENT may set for one statement: what does
// not change how it is read.
var statementVariables = words(`
group_concat_max_len innodb_lock_wait_timeout join_buffer_size lc_time_names lock_wait_timeout max_join_size max_statement_time
net_write_timeout optimizer_search_depth optimizer_switch sort_buffer_size sql_big_selects sql_select_limit time_zone tmp_table_size`)

// readableCharsets are the client's character sets in which SQL can be read:
// those whose bytes below 128 are ASCII wherever they stand.
var readableCharsets = words(`utf8 utf8mb3 utf8mb4 latin1 ascii binary`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// builtinAggregates are the aggregates that sqlast reads as such only where every
// server does: without a blank before the parenthesis, or by a word that is none
// of a stored function.
var builtinAggregates = words(`avg bit_and bit_or bit_xor count group_concat max min std stddev stddev_pop stddev_samp sum var_pop var_samp variance`)

// nativeFunctions are functions that servers look for before stored ones, however
// they are written, if no database is named. Other built-in functions are so only
// by how they are written: a name in quotes or before a blank may be stored.
var nativeFunctions = words(`
abs ceil ceiling concat concat_ws conv crc32 date_format datediff dayofweek dayofyear find_in_set floor from_unixtime greatest hex ifnull instr isnull
json_extract json_object json_unquote last_day lcase least length locate lower lpad ltrim md5 nullif pow round rpad rtrim sha1 sha2 sign sqrt
str_to_date substring_index timediff to_days ucase unhex unix_timestamp upper uuid version`)

// stored reports whether the server may take c for a call of a stored function
// that it has.
func (x *Account) stored(c *sqlast.Call) bool {
	builtin := nativeFunctions[c.Name] || (c.Aggregate || c.Over != nil) && builtinAggregates[c.Name]
	return x.routines[c.Name] && !builtin
}

// function checks the name of a function.
func (a *analysis) function(c *sqlast.Call) {
	if c.Schema != "" || a.account.stored(c) {
		a.refuse(refuseRoutine)
		return
	}
	if c.Name == "row_count" {
		a.counted = true
	}
	switch functions[c.Name] {
	case fnUnknown:
		a.refuse(refuseFunction)
	case fnState:
		if a.view != nil { // what it tells is not seen from outside
			a.refuse(refuseFunction)
		}
	case fnEffect:
		if c.Name != "last_insert_id" || len(c.Args) > 0 {
			a.effects++
		}
	}
}
