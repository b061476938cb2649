// For every type that an argument of ours has: a value that is fine, and values that are not. Written as SQL.
import { heldId, leaseId } from './refusal.ts'

const quote = (text: string) => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const hostileTexts = [
  '',
  ' ',
  `a'; drop table unstuck.jobs; --`,
  '"',
  '\\',
  '😀',
  'e\u0301',
  '\u0001',
  'x'.repeat(100_000),
]
const hostileJson = [
  'null',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '"x"',
  '1e300',
  'true',
  '{"id": {}}',
  '[{"type": 1}]',
]

/** Valid values of arguments whose name says more than their type. */
const fineByName: Record<string, string> = {
  p_ids: `array['${heldId}'::uuid]`,
  p_lease_ids: `array['${leaseId}'::uuid]`,
  p_lease_id: `'${leaseId}'`,
  p_jobs: `'[{"type": "a"}]'`,
  p_failures: `'[{"id": "${heldId}", "lease_id": "${leaseId}"}]'`,
  p_reaper: `'{"reaper_id": "r"}'`,
  p_attachment: `'native'`,
}

const fineByType: Record<string, string> = {
  boolean: 'true',
  integer: '1',
  bigint: '1',
  'double precision': '1',
  numeric: '1',
  text: `'a'`,
  uuid: `'${heldId}'`,
  jsonb: `'{}'`,
  'text[]': `array['a']`,
  'uuid[]': `array['${heldId}'::uuid]`,
  'timestamp with time zone': 'now()',
}

const hostileByType: Record<string, string[]> = {
  boolean: [],
  integer: [`'-2147483648'`, `'-1'`, '0', `'2147483647'`],
  bigint: [`'-9223372036854775808'`, `'-1'`, '0', `'9223372036854775807'`],
  'double precision': [`'NaN'`, `'Infinity'`, `'-Infinity'`, `'-1'`, '1e308'],
  numeric: [`'NaN'`, `'-1'`, '1e100'],
  text: hostileTexts.map(quote),
  uuid: [`'00000000-0000-0000-0000-000000000000'`],
  jsonb: hostileJson.map(quote),
  'text[]': [`'{}'`, `'{NULL}'`, `'{""}'`, `'{{a}}'`, `array[${quote('x'.repeat(100_000))}]`],
  'uuid[]': [`'{}'`, `'{NULL}'`, `array[array['${heldId}'::uuid]]`],
  'timestamp with time zone': [`'infinity'`, `'-infinity'`, `'4713-01-01 BC'`],
}

export function fineValue(name: string, type: string): string {
  return `${fineByName[name] ?? fineByType[type] ?? 'null'}::${type}`
}

export function hostileValues(type: string): string[] {
  return ['null', ...(hostileByType[type] ?? [])].map((value) => `${value}::${type}`)
}
