package gate

import "strings"

// A fnClass is what is known of a function; the zero value is nothing, and such
// a function may be stored or loadable and do anything.
type fnClass byte

const (
	fnUnknown fnClass = iota
	fnPure            // depends on its arguments, the session and the clock, and changes nothing
	fnSession         // reads or changes state that statements share; not where protected tables are touched
)

func (c fnClass) pure() bool { return c == fnPure }

// functions lists the built-in functions restricted accounts may call. The
// server takes none of these names for a stored function.
var functions = func() map[string]fnClass {
	m := map[string]fnClass{}
	for _, n := range strings.Fields(pureFunctions) {
		m[n] = fnPure
	}
	for _, n := range strings.Fields(sessionFunctions) {
		m[n] = fnSession
	}
	return m
}()

const pureFunctions = `
abs acos adddate addtime ascii asin atan atan2 avg bin bit_and bit_count bit_length bit_or bit_xor
cast ceil ceiling char char_length character_length charset chr coalesce coercibility collation concat concat_ws
connection_id conv convert convert_tz cos cot count crc32 cume_dist curdate current_date current_time current_timestamp
current_user current_role curtime database date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear
default degrees dense_rank elt exp export_set extract field find_in_set first_value floor format from_base64
from_days from_unixtime get_format greatest group_concat hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa
insert instr is_ipv4 is_ipv6 isnull json_array json_arrayagg json_compact json_contains json_contains_path json_depth json_exists
json_extract json_insert json_keys json_length json_merge json_merge_patch json_merge_preserve json_object json_objectagg
json_query json_quote json_remove json_replace json_search json_set json_type json_unquote json_valid json_value
lag last_day lcase lead least left length ln localtime localtimestamp locate log log10 log2 lower lpad ltrim
makedate maketime match max md5 median microsecond mid min minute mod month monthname now nth_value ntile nullif nvl nvl2
oct octet_length ord percent_rank percentile_cont percentile_disc period_add period_diff pi position pow power quarter quote
radians rand rank regexp_instr regexp_replace regexp_substr regexp_like repeat replace reverse right round row row_number rpad rtrim
schema sec_to_time second session_user sha sha1 sha2 sign sin soundex space sqrt std stddev stddev_pop stddev_samp
str_to_date strcmp subdate substr substring substring_index subtime sum sysdate system_user tan time time_format time_to_sec
timediff timestamp timestampadd timestampdiff to_base64 to_char to_days to_seconds trim truncate
ucase unhex unix_timestamp upper user utc_date utc_time utc_timestamp uuid uuid_short values value var_pop var_samp variance
version week weekday weekofyear weight_string year yearweek
char_func varchar binary varbinary decimal dec numeric float double int integer signed unsigned datetime bit text blob json
tinyint smallint mediumint bigint inet6 enum set`

// LAST_INSERT_ID is allowed without arguments only.
const sessionFunctions = `
found_rows get_lock is_free_lock is_used_lock last_insert_id lastval nextval release_all_locks release_lock row_count sleep`

// beforeParen lists the words an opening parenthesis may follow that does not
// begin the arguments of a function: keywords, which without quotes are no
// function's name in MariaDB or MySQL.
var beforeParen = words(`
all and any as between by case distinct distinctrow div else escape except exists from having in index intersect interval into is join key
like limit mod not offset on or over partition regexp rlike select separator set some straight_join then union using
value values when where with group xor against order collate binary unique for inner cross recursive update`)

// readableVariables lists the system variables restricted accounts may read:
// what drivers ask for at the start. The others can hold values of statements.
var readableVariables = words(`
auto_increment_increment auto_increment_offset autocommit character_set_client character_set_connection character_set_database
character_set_results character_set_server character_set_system collation_connection collation_database collation_server
default_storage_engine div_precision_increment foreign_key_checks have_openssl have_query_cache have_ssl hostname init_connect innodb_lock_wait_timeout
innodb_version interactive_timeout join_buffer_size language lc_time_names license lock_wait_timeout lower_case_file_system lower_case_table_names
max_allowed_packet max_connections max_statement_time net_buffer_length net_read_timeout net_write_timeout performance_schema port
protocol_version query_cache_size query_cache_type read_only sql_auto_is_null sql_big_selects sql_mode sql_notes sql_quote_show_create
sql_safe_updates sql_select_limit storage_engine system_time_zone table_type thread_handling time_zone transaction_isolation
transaction_read_only tx_isolation tx_read_only unique_checks version version_comment version_compile_machine version_compile_os
wait_timeout session_track_schema session_track_system_variables`)

// settableVariables lists what restricted accounts may set, to constants.
var settableVariables = words(`
autocommit character_set_client character_set_connection character_set_results collation_connection foreign_key_checks
innodb_lock_wait_timeout interactive_timeout join_buffer_size lc_time_names lock_wait_timeout max_join_size max_statement_time
net_read_timeout net_write_timeout group_concat_max_len session_track_schema session_track_system_variables sort_buffer_size
sql_auto_is_null sql_big_selects sql_mode sql_notes sql_quote_show_create sql_safe_updates sql_select_limit sql_warnings
time_zone transaction_isolation transaction_read_only tx_isolation tx_read_only unique_checks wait_timeout`)

// readableCharsets are the client's character sets in which SQL can be read:
// those whose bytes below 128 are ASCII wherever they stand.
var readableCharsets = words(`utf8 utf8mb3 utf8mb4 latin1 ascii binary`)

// readableModes are the values of sql_mode under which SQL reads as here.
var readableModes = words(`
real_as_float pipes_as_concat ansi_quotes ignore_space only_full_group_by no_unsigned_subtraction no_dir_in_create no_key_options
no_table_options no_field_options no_auto_value_on_zero no_backslash_escapes strict_trans_tables strict_all_tables no_zero_in_date
no_zero_date allow_invalid_dates error_for_division_by_zero traditional no_auto_create_user high_not_precedence
no_engine_substitution pad_char_to_full_length time_round_fractional ansi`)

// described lists the tables of information_schema that describe and do not
// show what runs or what columns hold.
var described = strings.Fields(`
schemata tables columns statistics key_column_usage referential_constraints table_constraints character_sets collations
collation_character_set_applicability engines`)

// readableSchema holds those of described.
var readableSchema = words(strings.Join(described, " "))

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
