import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../job/job.ts'
import { redactJson, redactText } from './redact.ts'

const gone = '[redacted]'

describe('redactJson', () => {
  it.each([
    'password',
    'clientSecret',
    'accessToken',
    'Authorization',
    'api_key',
    'apiKey',
    'api-key',
    'Cookie',
    'ssn',
    'IBAN',
    'cardNumber',
  ])('OPS-1 takes out what is under %s, at any depth and of any kind', (key) => {
    expect(redactJson({ a: [{ [key]: 'x' }, { [key]: { deep: 1 } }], b: 1 })).toEqual({
      a: [{ [key]: gone }, { [key]: gone }],
      b: 1,
    })
  })

  it('OPS-1 leaves the shape and everything else as it is, and changes no input', () => {
    const payload: JsonValue = { file: 'a.pdf', pages: [1, 2.5, null, true], nested: { note: 'fine' } }
    const before = structuredClone(payload)
    expect(redactJson(payload)).toEqual(payload)
    expect(payload).toEqual(before)
  })

  it('OPS-1 has no secret key left, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(redactJson({ value, password: 'hunter2' } as JsonValue))
        expect(text).not.toContain('hunter2')
      }),
    )
  })
})

describe('redactText', () => {
  it.each([
    ['a JWT', 'got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1NyJ9.c2lnbmF0dXJl back', `got ${gone} back`],
    ['a bearer header', 'Authorization: Bearer abcdefgh12345', `Authorization: Bearer ${gone}`],
    [
      'the password of a URL',
      'at postgres://u:hunter2@db:5432/x failed',
      `at postgres://u:${gone}@db:5432/x failed`,
    ],
    ['a card number', 'card 4111 1111 1111 1111 refused', `card ${gone} refused`],
    ['an IBAN', 'to DE89 3704 0044 0532 0130 00 failed', `to ${gone} failed`],
    [
      'what stands after the name of a secret',
      'https://x.example/?access_token=abc&page=2 password=hunter2, gone',
      `https://x.example/?access_token=${gone}&page=2 password=${gone}, gone`,
    ],
    ['a token of this API', 'unstuck_abcdefghijklmnopqrstuvwxyz', gone],
  ])('OPS-1 takes out %s', (_, text, shown) => {
    expect(redactText(text)).toBe(shown)
  })

  it.each([
    'job 4111111111111112 failed',
    'after 1747058531250 ms',
    'https://gateway.example/v1/x?id=7',
    'at 2026-05-12T14:02:11Z',
    'ana@example.com',
    'the token is over',
  ])('OPS-1 leaves %j', (text) => {
    expect(redactText(text)).toBe(text)
  })

  it('OPS-1 takes out e-mail addresses where that is asked for', () => {
    expect(redactText('mail to ana@example.com bounced', { withEmails: true })).toBe(
      `mail to ${gone} bounced`,
    )
  })
})
