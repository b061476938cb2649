import { describe, expect, it } from 'vitest'
import { codeForOwner, reasonForOwner } from './for-owner.ts'

describe('reasonForOwner', () => {
  it.each([
    ['connect ECONNREFUSED 127.0.0.1:8080', 'connect GW_5XX <address>'],
    ['connect ECONNREFUSED ::1:8080', 'connect GW_5XX <address>'],
    ['connect ETIMEDOUT [2001:db8::1]:443', 'connect GW_TIMEOUT <address>'],
    ['getaddrinfo ENOTFOUND gw.internal', 'getaddrinfo GW_5XX <address>'],
    ['https://gw.internal:8443/v2/convert?key=1 answered 502', '<address> answered 502'],
    ['no answer from gateway:8080 or localhost:80', 'no answer from <address> or <address>'],
    [
      'Connect Timeout Error (attempted address: gw.internal:443)',
      'Connect Timeout Error (attempted address: <address>)',
    ],
  ])('FAIL-2 takes host, port and internal codes out of %j', (reason, shown) => {
    expect(reasonForOwner(reason)).toBe(shown)
  })

  it.each([
    'page 3 of 12 has no text',
    'the gateway answered 502',
    'line:120 is not a number, status:502',
    'started at 12:30:45, took 1.5 s',
    'std::bad_alloc in version 1.2.3',
    'the PDF is NOT valid XML',
  ])('FAIL-2 leaves %j alone', (reason) => {
    expect(reasonForOwner(reason)).toBe(reason)
  })

  it('FAIL-2 has nothing to say where there is nothing', () => {
    expect([reasonForOwner(null), codeForOwner(null), codeForOwner('ENOSPC')]).toEqual([
      null,
      null,
      'IO_ERROR',
    ])
  })
})
