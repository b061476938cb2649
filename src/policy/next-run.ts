import { Cron } from 'croner'
import { invalidArgument } from '../errors/index.ts'

/**
 * The first occurrence after a moment; null where there is none. A time that summer time skips runs at the end of the gap. One
 * that comes twice in autumn runs once, at its first coming; what runs every hour, or more often, runs in both hours.
 */
export function nextRun(cron: string, timezone: string, after: Date): Date | null {
  checkTimezone(timezone)
  if (Number.isNaN(after.getTime())) throw invalidArgument('after', after, 'a valid date')
  return parse(cron, timezone).nextRun(after)
}

const takes =
  'five fields (minute, hour, day of month, month, day of week), six with seconds before them, or seven with years after'

function parse(cron: string, timezone: string): Cron {
  let parsed: Cron
  try {
    parsed = new Cron(cron, { timezone })
  } catch (cause) {
    throw invalidArgument('cron', cron, takes, { cause })
  }
  // The library also reads a single date, which recurs never.
  if (parsed.getOnce() !== null) throw invalidArgument('cron', cron, takes)
  return parsed
}

function checkTimezone(timezone: string): void {
  const takesName = 'the name of a time zone, such as UTC or Europe/Berlin'
  // Intl takes undefined for the zone of this machine, and the library an empty text.
  if (typeof timezone !== 'string' || timezone === '') throw invalidArgument('timezone', timezone, takesName)
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch (cause) {
    throw invalidArgument('timezone', timezone, takesName, { cause })
  }
}
