import { describe, expect, it } from 'vitest'
import { jsonText } from './json-text.ts'

/** The value inside many arrays. */
function deep(value: unknown, levels: number): unknown {
  return levels === 0 ? value : [deep(value, levels - 1)]
}

describe('jsonText', () => {
  it.each([
    ['plain data', { a: [1, 'ü', null, true, { b: undefined }] }],
    ['data that is deep', deep({ at: new Date(0) }, 50)],
    ['what makes its own JSON', { at: new Date(0), own: { toJSON: () => 'own' } }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
  ])('OPS-8 writes %s as JSON.stringify does', (_, value) => {
    expect(jsonText('payload', value)).toBe(JSON.stringify(value))
  })

  const cycle: Record<string, unknown> = {}
  Object.assign(cycle, { first: cycle, second: cycle, third: cycle })
  it.each([
    ['NaN', Number.NaN],
    ['NaN far inside', deep(Number.NaN, 50)],
    ['a function far inside', deep(() => {}, 50)],
    ['a function in an array', [1, () => {}]],
    ['Infinity in what makes its own JSON', { toJSON: () => ({ n: Infinity }) }],
    ['an object that is in itself three times', cycle],
    ['nothing', undefined],
  ])('OPS-8 refuses %s', (_, value) => {
    expect(() => jsonText('payload', value)).toThrow(/^payload[\w.[\]]*: got/)
  })
})
