import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseFilter } from './parse-filter.ts'

describe('parseFilter', () => {
  it.each([
    ['', {}],
    ['  ', {}],
    ['type:run_tsa status:dead', { type: 'run_tsa', status: 'dead' }],
    ['Queue:a owner:b worker:c stage:d', { queue: 'a', owner: 'b', workerId: 'c', stage: 'd' }],
    ['error:GW_5XX cause:ab12', { errorCode: 'GW_5XX', causeId: 'ab12' }],
    ['lease:<0 older:2h younger:1d', { isOverdue: true, olderThanMs: 7_200_000, youngerThanMs: 86_400_000 }],
    ['owner:"Ana \\"A\\" Lima" type:a:b', { owner: 'Ana "A" Lima', type: 'a:b' }],
  ])('OPS-9 reads %j', (text, filter) => {
    expect(parseFilter(text)).toEqual({ filter })
  })

  it.each([
    ['type:a foo:b', 'foo:b', 7, 'unknown key foo'],
    ['type:a statu:dead', 'statu:dead', 7, 'did you mean status?'],
    ['status:stuck', 'status:stuck', 0, 'status takes waiting'],
    ['dead', 'dead', 0, 'key:value'],
    ['type:"a', 'type:"a', 0, 'key:value'],
    ['type:""', 'type:""', 0, '1 to 200'],
    ['type:a"b', 'type:a"b', 0, 'key:value'],
    ['a:b type:x', 'a:b', 0, 'unknown key a'],
    ['type:a type:b', 'type:b', 7, 'twice'],
    ['younger:soon', 'younger:soon', 0, 'a duration'],
    ['constructor:x', 'constructor:x', 0, 'unknown key'],
  ])('OPS-9 refuses %j and points at the token', (text, token, position, message) => {
    const parsed = parseFilter(text)
    expect(parsed).toMatchObject({ problem: { token, position } })
    expect('problem' in parsed && parsed.problem.message).toContain(message)
  })

  it('OPS-9 no text makes it throw, and a refusal points into the text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        const parsed = parseFilter(text)
        if ('problem' in parsed) {
          const { token, position } = parsed.problem
          expect(text.slice(position, position + token.length)).toBe(token)
        }
      }),
    )
  })

  it('OPS-9 any value comes back from its quotes', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), (value) => {
        fc.pre(!value.includes('\0'))
        const quoted = `"${value.replaceAll(/["\\]/g, '\\$&')}"`
        expect(parseFilter(`owner:${quoted}`)).toEqual({ filter: { owner: value } })
      }),
    )
  })
})
