package gate

import "strings"

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
collation_character_set_applicability engines views check_constraints routines parameters triggers events partitions files plugins
column_privileges table_privileges schema_privileges user_privileges applicable_roles enabled_roles administrable_role_authorizations
role_table_grants role_column_grants role_routine_grants view_table_usage view_routine_usage sequences keywords sql_functions
st_geometry_columns st_spatial_reference_systems st_units_of_measure schemata_extensions tables_extensions columns_extensions
table_constraints_extensions tablespaces_extensions resource_groups user_attributes libraries routine_libraries`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
