// Objects that any role could create in a schema on the caller's search_path. Where PostgreSQL prefers one of them to its own,
// because it fits the operands better, it raises.
import pg from 'pg'
import { builtInFunctions } from '../../../src/store/postgres/render/built-in-functions.ts'

/** Types of our columns, parameters and expressions. */
const commonTypes = words(`
  smallint integer bigint float8 numeric text varchar name uuid jsonb oid regclass timestamptz interval tstzmultirange
  text[] uuid[]`)

/** Those, and what teams or a careless expression would have in their place. */
const allTypes = words(`
  smallint integer bigint real float8 numeric text varchar char(8) name "char" boolean uuid json jsonb jsonpath oid bytea
  regclass regnamespace regproc regprocedure regtype int2vector timestamptz timestamp date interval tstzrange tstzmultirange
  text[] uuid[] integer[] bigint[] float8[] timestamptz[] jsonb[] boolean[] name[]`)

const commonOperators = words('= <> < > <= >= + - * / || -> ->> #>> ? ~')
const allOperators = words('= <> < > <= >= + - * / % || -> ->> #> #>> ? @> <@ && ~ !~ ~~ !~~ ~*')

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

const list = (texts: string[]) => `array[${texts.map((text) => `'${text}'`).join(', ')}]`

/**
 * In the schema `hostile`: every operator that PostgreSQL itself has only by conversion or for any type of a kind, on our types,
 * on the enums of the application, and on a type to which ours are converted; overloads of the functions that we call; and
 * types named as ours.
 */
const objects = (types: string[], operators: string[]) => `
create schema hostile;
create type hostile.bait as (value text);
create type hostile.policies as (value text);
create domain hostile.jobs as int;
do $$
declare
  v_types regtype[] := ${list(types)}::regtype[] || array(
    select distinct atttypid::regtype from pg_attribute join pg_type on pg_type.oid = atttypid
     where attnum > 0 and typtype = 'e') || 'hostile.bait'::regtype;
  v_name text;
  v_left regtype;
  v_right regtype;
begin
  foreach v_left in array v_types loop
    foreach v_right in array v_types loop
      execute format('create function hostile.hostile(%s, %s) returns boolean language plpgsql as
        $f$ declare v_context text; begin
          get diagnostics v_context = pg_context;
          raise exception ''hostile operator on %1$s and %2$s: %%'', v_context;
        end $f$', v_left, v_right);
      for v_name in
        select unnest(${list(operators)})
        except
        select oprname from pg_operator
         where oprleft = v_left and oprright = v_right and oprnamespace = 'pg_catalog'::regnamespace
      loop
        execute format('create operator hostile.%s (function = hostile.hostile, leftarg = %s, rightarg = %s)',
                       v_name, v_left, v_right);
      end loop;
    end loop;
    for v_name in
      select unnest(${list(builtInFunctions)})
      except
      select proname from pg_proc
       where pronargs = 1 and proargtypes[0] = v_left and pronamespace = 'pg_catalog'::regnamespace
    loop
      execute format('create function hostile.%I(%s) returns boolean language plpgsql as
        $f$ begin raise exception ''hostile function %1$s of %2$s''; end $f$', v_name, v_left);
    end loop;
  end loop;
  foreach v_left in array array['integer', 'bigint', 'float8', 'text', 'jsonb', 'timestamptz']::regtype[] loop
    execute format('create function hostile.to_bait(%s) returns hostile.bait language plpgsql as
      $f$ begin raise exception ''hostile cast of %1$s''; end $f$', v_left);
    execute format('create cast (%s as hostile.bait) with function hostile.to_bait(%1$s) as implicit', v_left);
  end loop;
end
$$;`

export const hostileObjects = objects(allTypes, allOperators)
/** A seventh of them, for a test that is run often. */
export const commonHostileObjects = objects(commonTypes, commonOperators)

const options = '-c search_path=hostile,public'

export const openHostilePool = (connectionString: string): pg.Pool =>
  new pg.Pool({ connectionString, options })

export function hostileUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.searchParams.set('options', options)
  return url.href
}
