/** The first template of the demo world, as a read shows it. */
export const exampleTemplate = {
  id: '5100000000000001',
  name: 'hello_world',
  language: 'en_US',
  category: 'UTILITY',
  status: 'APPROVED',
  components: [{ type: 'BODY', text: 'Welcome to Lucky Shrub.' }],
  parameter_format: 'POSITIONAL',
  message_send_ttl_seconds: 2_592_000,
  quality_score: { score: 'UNKNOWN', date: '2026-06-01T12:00:00.000Z' },
  rejected_reason: 'NONE',
  created_time: '2026-06-01T12:00:00.000Z',
  last_updated_time: '2026-06-01T12:00:00.000Z',
}
