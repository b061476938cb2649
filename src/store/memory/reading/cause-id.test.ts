import { describe, expect, it } from 'vitest'
import vectors from '../../../../test/vectors/cause-id.json' with { type: 'json' }
import { causeId } from './cause-id.ts'

const long = (text: string | null) => text?.replace('LONG', 'x'.repeat(499)) ?? null

describe('causeId', () => {
  it.each(vectors)('$name', ({ same }) => {
    const causes = same.map(([code = null, reason = null]) => causeId(code, long(reason)))
    expect(new Set(causes).size).toBe(1)
  })

  it('OPS-9 apostrophes inside words are no quotes', () => {
    expect(causeId('X', "can't read the worker's file")).not.toBe(
      causeId('X', "can't write the worker's file"),
    )
  })

  it('OPS-9 code and words tell causes apart', () => {
    const causes = [
      causeId('A', 'b'),
      causeId('B', 'b'),
      causeId('A', 'c'),
      causeId('A', null),
      causeId(null, 'A'),
    ]
    expect(new Set(causes).size).toBe(5)
  })
})
