import { describe, expect, it } from 'vitest'
import vectors from '../../../test/vectors/release-delay.json' with { type: 'json' }
import { isReleasedOften, releaseDelayMs } from './release-delay.ts'

describe('releaseDelayMs', () => {
  it.each(vectors)('$name', ({ input, expected }) => {
    const isOften = isReleasedOften(input.releases, input.startedAgoMs)
    expect({ isOften, delayMs: releaseDelayMs(input.askedMs, input.lastMs, isOften) }).toEqual(expected)
  })
})
