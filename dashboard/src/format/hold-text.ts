/** Other expired leases are swept meanwhile. */
export const holdText = (reason: string) =>
  `Leases that expired during an outage (${reason.replaceAll('-', ' ')}) are held for one lease, so that their workers can reconnect.`
