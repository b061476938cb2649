export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet'

export const textOf: Record<Tone, string> = {
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
  info: 'text-info',
  quiet: 'text-soft',
}

export const washOf: Record<Tone, string> = {
  good: 'bg-good-wash text-good',
  warn: 'bg-warn-wash text-warn',
  bad: 'bg-bad-wash text-bad',
  info: 'bg-info-wash text-info',
  quiet: 'bg-raised text-soft',
}

export const barOf: Record<Tone, string> = {
  good: 'bg-good-bar',
  warn: 'bg-warn-bar',
  bad: 'bg-bad-bar',
  info: 'bg-info-bar',
  quiet: 'bg-edge',
}

/** The edge of a panel. */
export const edgeOf: Record<Tone, string> = {
  good: 'border-l-good-bar',
  warn: 'border-l-warn-bar',
  bad: 'border-l-bad-bar',
  info: 'border-l-info-bar',
  quiet: 'border-l-edge',
}
