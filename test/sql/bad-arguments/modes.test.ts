// The mode of a table, typed by hand through a bare client, with each argument wrong in turn.
import { afterAll, beforeAll, it } from 'vitest'
import { openRefusalBench, type RefusalBench, type Row } from './refusal.ts'

let bench: RefusalBench

beforeAll(async () => {
  bench = await openRefusalBench()
  await bench.plant()
})

afterAll(() => bench.close())

const expectRefusals = (...row: Row) => bench.expectRefusals(...row)

it.each([
  ['set_mode', 'mode', 'set_mode($1)', [null], [''], ['off'], ['Reap']],
  ['set_mode', 'on_foreign_settle', `set_mode('enforce', $1)`, [''], ['drop']],
  ['set_mode', 'on_foreign_settle', `set_mode('reap', $1)`, ['record'], ['refuse']],
] satisfies Row[])('OPS-8 %s refuses a bad %s and writes nothing: %s', expectRefusals)
