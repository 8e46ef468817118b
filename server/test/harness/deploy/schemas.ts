import { Type } from 'typebox'

/** The part of the Compose specification that our file uses; any other member is a mistake, or a reason to add it here. */

const strict = { additionalProperties: false }
const duration = Type.String({ pattern: '^(\\d+(us|ms|s|m|h))+$' })
const words = Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })
const command = Type.Union([Type.String({ minLength: 1 }), words])

const service = Type.Object(
  {
    image: Type.String({ pattern: '^[a-z\\d]+([._/-][a-z\\d]+)*(:[\\w.-]+)?$' }),
    build: Type.Optional(Type.Object({ context: Type.Literal('.'), dockerfile: Type.String() }, strict)),
    restart: Type.Optional(Type.Enum(['no', 'always', 'on-failure', 'unless-stopped'])),
    stop_grace_period: Type.Optional(duration),
    // Compose takes numbers and null as well; a text is what arrives in the process.
    environment: Type.Optional(Type.Record(Type.String({ pattern: '^[A-Z][A-Z\\d_]*$' }), Type.String())),
    depends_on: Type.Optional(words),
    networks: Type.Optional(
      Type.Record(Type.String(), Type.Object({ ipv4_address: Type.String({ format: 'ipv4' }) }, strict)),
    ),
    command: Type.Optional(command),
    entrypoint: Type.Optional(command),
    ports: Type.Optional(Type.Array(Type.String({ pattern: '^(\\d+\\.\\d+\\.\\d+\\.\\d+:)?\\d+:\\d+(/(tcp|udp))?$' }))),
    volumes: Type.Optional(Type.Array(Type.String({ pattern: '^(\\./)?[\\w.-]+:/[\\w./-]+(:(ro|rw))?$' }))),
    healthcheck: Type.Optional(
      Type.Object(
        {
          test: Type.Union([Type.String(), words]),
          interval: Type.Optional(duration),
          timeout: Type.Optional(duration),
          retries: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        strict,
      ),
    ),
  },
  strict,
)

export const composeSchema = Type.Object(
  {
    services: Type.Record(Type.String({ pattern: '^[\\w.-]+$' }), service),
    volumes: Type.Record(Type.String({ pattern: '^[\\w.-]+$' }), Type.Null()),
    networks: Type.Object(
      {
        default: Type.Object(
          { ipam: Type.Object({ config: Type.Array(Type.Object({ subnet: Type.String() }, strict)) }, strict) },
          strict,
        ),
      },
      strict,
    ),
  },
  // Members that begin with x- are for anchors.
  { patternProperties: { '^x-': {} }, additionalProperties: false },
)

const target = Type.Object(
  { refId: Type.String({ pattern: '^[A-Z]$' }), expr: Type.String(), legendFormat: Type.String() },
  strict,
)

/** A dashboard as Grafana imports it, with panels of the kind that ours has. */
export const dashboardSchema = Type.Object(
  {
    title: Type.String(),
    uid: Type.String({ pattern: '^[\\w-]{1,40}$' }),
    schemaVersion: Type.Integer({ minimum: 36 }),
    version: Type.Integer(),
    timezone: Type.Enum(['', 'browser', 'utc']),
    refresh: Type.String(),
    time: Type.Object({ from: Type.String({ pattern: '^now-\\d+[mhd]$' }), to: Type.Literal('now') }, strict),
    templating: Type.Object(
      {
        list: Type.Array(
          Type.Object(
            {
              name: Type.String(),
              type: Type.Literal('datasource'),
              query: Type.Literal('prometheus'),
              label: Type.String(),
            },
            strict,
          ),
        ),
      },
      strict,
    ),
    panels: Type.Array(
      Type.Object(
        {
          id: Type.Integer({ minimum: 1 }),
          type: Type.Literal('timeseries'),
          title: Type.String({ minLength: 1 }),
          datasource: Type.Object({ type: Type.Literal('prometheus'), uid: Type.Literal(`\${datasource}`) }, strict),
          gridPos: Type.Object(
            {
              h: Type.Integer({ minimum: 1 }),
              w: Type.Integer({ minimum: 1, maximum: 24 }),
              x: Type.Integer({ minimum: 0, maximum: 23 }),
              y: Type.Integer({ minimum: 0 }),
            },
            strict,
          ),
          fieldConfig: Type.Object(
            {
              defaults: Type.Object(
                { unit: Type.Enum(['reqps', 's', 'ops', 'short', 'bytes', 'Bps', 'percentunit']) },
                strict,
              ),
              overrides: Type.Array(Type.Object({ matcher: Type.Object({}), properties: Type.Array(Type.Object({})) })),
            },
            strict,
          ),
          targets: Type.Array(target, { minItems: 1 }),
        },
        strict,
      ),
      { minItems: 1 },
    ),
  },
  strict,
)
