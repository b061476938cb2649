import { describe, expect, it } from 'vitest'
import { loadCheck } from './fixture-tree.ts'

const check = await loadCheck('check/wording')

it('plain English passes', () => {
  expect(
    check({
      'src/a.ts':
        '// Upper bound of one heartbeat call.\n/** Default: 300 s. */\nawait Promise.allSettled([])\n',
      'sql/a.sql': '-- Lease granted at hand-over, to cover a blocked main thread.\nselect 1;\n',
      'docs/a.md': '# Delivery\n\nWhat stops a late write? Of two workers, one gets `lease-lost`.\n',
      'docs/image.svg': '<!-- What the demo shows -->',
    }),
  ).toEqual([])
})

describe('comments', () => {
  it.each([
    ['src/a.ts', '// What a claim takes.'],
    ['src/a.ts', 'const a = 1 // What a claim takes.'],
    ['src/a.ts', '/** What a claim takes. */'],
    ['src/a.ts', '/**\n * What a claim takes.\n */'],
    ['sql/a.sql', 'select 1; -- What a claim takes.'],
    ['examples/a.py', '# What a claim takes.'],
  ])('in %s, "%s" does not name its subject', (path, text) => {
    expect(check({ [path]: text })).toEqual([
      expect.stringMatching(/ begins a comment with "What": name the thing$/),
    ])
    expect(check({ [path]: text.replace('What', 'Of') })).toEqual([
      expect.stringMatching(/ begins a comment with "Of": name the thing$/),
    ])
  })
})

describe('retired names', () => {
  it.each([
    ['type JobSettlement = 1', 'outcome'],
    ['const settlements = 1', 'outcome'],
    ['tellBreaker()', 'emit, report or show'],
    ['select leave_pulse()', 'record_reaper_heartbeat'],
    ["import './until-known.ts'", 'retryUntilAnswered'],
    ['lease.isOver()', 'mayHaveExpired'],
    ["import './brakes.ts'", 'queue control'],
  ])('"%s" is refused, in code and in prose', (text, instead) => {
    const message = `has a retired name: write ${instead}`
    expect(check({ 'src/a.ts': text, 'docs/a.md': `See \`${text}\`.` })).toEqual([
      `docs/a.md:1 ${message}`,
      `src/a.ts:1 ${message}`,
    ])
  })
})

it('phrases are refused wherever they stand', () => {
  expect(
    check({
      'docs/a.md': 'fine\n\n| Field | Where absent |',
      'src/cli/a.ts': ".option('--port', 'an embedded one where absent')",
    }),
  ).toEqual([
    'docs/a.md:3 says "where absent": write Default: …',
    'src/cli/a.ts:1 says "where absent": write Default: …',
  ])
})
