// Functions of pg_catalog that sql/ calls. Rendering qualifies them: an overload planted in a schema on the search_path of the
// caller would win wherever it fits the arguments better (C28). test/sql/access/search-path.test.ts fails if one is missing here.
export const builtInFunctions = `
  abs array_agg array_append array_cat array_fill array_length array_ndims array_position array_remove array_replace array_to_json array_to_string bool_and bool_or btrim
  cardinality ceil chr clock_timestamp concat concat_ws convert_to count current_setting date_trunc decode digest encode
  first_value floor format format_type gen_random_uuid generate_series has_table_privilege hashint8extended hashtext hashtextextended int8send isfinite
  json_agg json_array_elements json_array_elements_text json_array_length json_build_object json_build_array json_strip_nulls json_to_record jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length
  jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_object jsonb_object_agg jsonb_object_keys jsonb_path_exists
  jsonb_path_query jsonb_path_query_first jsonb_populate_record jsonb_populate_recordset jsonb_set jsonb_strip_nulls
  jsonb_to_record jsonb_to_recordset jsonb_typeof last_value left length lower make_date make_interval max md5 min mod
  nextval now num_nonnulls obj_description octet_length percentile_cont percentile_disc pg_advisory_lock_shared
  pg_advisory_xact_lock
  pg_backend_pid pg_blocking_pids pg_get_function_result pg_get_serial_sequence pg_get_viewdef pg_notify
  pg_postmaster_start_time pg_sleep pg_try_advisory_lock pg_try_advisory_xact_lock pg_typeof power random range_agg regexp_match
  regexp_replace replace right round row_number row_to_json rpad set_config sha256 starts_with string_agg
  string_to_array substr sum to_char to_json to_jsonb to_regclass to_regnamespace to_regprocedure to_timestamp translate trim_scale
  trunc txid_current tstzmultirange tstzrange upper uuid_hash_extended width_bucket
`
  .trim()
  .split(/\s+/)

const call = new RegExp(`(?<![.\\w])(?=(?:${builtInFunctions.join('|')})\\s?\\()`, 'g')

/** Takes text without comments, literals and quoted names. */
export const qualifyBuiltInFunctions = (text: string): string => text.replace(call, 'pg_catalog.')
