/**
 * The end of an id, for a narrow column: `…3f4d2f6f2a10`. A native id begins with its time, which jobs of one minute share, and ends
 * with 48 random bits, which no two jobs of a screen share.
 */
export const shortId = (id: string): string => (id.length > 13 ? `…${id.slice(-12)}` : id)
