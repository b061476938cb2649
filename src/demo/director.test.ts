import { expect, it } from 'vitest'
import type { DemoSession } from './demo-session.ts'
import { Director } from './director.ts'

it('SEE-5 once it was ended nothing follows, in the autoplay either', async () => {
  const errors: unknown[] = []
  // A started act would fail here: there is no session.
  const session = { signal: new AbortController().signal } as DemoSession
  const onError = (error: unknown) => errors.push(error)
  const director = new Director(session, { acts: ['kill', 'block'], speed: 10, isAuto: true, onError })
  const played = director.play()
  director.end()
  await played
  expect(errors).toEqual([])
  const other = new Director(session, { acts: ['kill'], speed: 1_000, isAuto: true, onError })
  await other.play()
  expect(errors).toHaveLength(1)
})
