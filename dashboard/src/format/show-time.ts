// Durations and times as text.
import { showDuration as roughly } from '../../../src/policy/explain/show-duration.ts'

export { shortId } from '../../../src/job/short-id.ts'

export type TimeMode = 'local' | 'utc' | 'relative'

export function showDuration(ms: number): string {
  const size = Math.abs(ms)
  if (size < 10_000) return `${(size / 1000).toFixed(1)} s`
  if (size < 90_000) return `${Math.round(size / 1000)} s`
  if (size < 3_600_000) return showMinutes(size)
  if (size < 172_800_000) return showHours(size)
  return `${Math.round(size / 86_400_000)} d`
}

/** For durations that are usually below a second. */
export const showShort = (ms: number) => (ms < 1_000 ? `${Math.round(ms)} ms` : showDuration(ms))

function showMinutes(ms: number): string {
  const seconds = Math.floor((ms % 60_000) / 1000)
  const minutes = `${Math.floor(ms / 60_000)} min`
  return seconds === 0 ? minutes : `${minutes} ${seconds} s`
}

function showHours(ms: number): string {
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`
}

const pad = (value: number) => String(Math.floor(value)).padStart(2, '0')

/** As in the CLI; the exact time is in the tooltip. */
export function showAgo(ms: number): string {
  if (Math.abs(ms) < 1_000) return 'now'
  return ms < 0 ? `in ${roughly(-ms)}` : `${roughly(ms)} ago`
}

export function showTime(time: string, mode: TimeMode, ago: number | null): string {
  if (mode === 'relative' && ago !== null) return showAgo(ago)
  const date = new Date(time)
  if (mode === 'utc') return `${date.toISOString().slice(0, 19).replace('T', ' ')}Z`
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
}

/** `14:02`, or `14:02Z`. */
export function showClock(timeMs: number, mode: TimeMode): string {
  const date = new Date(timeMs)
  if (mode === 'utc') return `${date.toISOString().slice(11, 16)}Z`
  return `${pad(date.getHours())}:${pad(date.getMinutes())}`
}

export const showCount = (value: number) => value.toLocaleString('en')

export const plural = (count: number, word: string, words = `${word}s`) =>
  `${showCount(count)} ${count === 1 ? word : words}`
