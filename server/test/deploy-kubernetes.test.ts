import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { load } from 'js-yaml'
import { readConfig } from '../src/config.ts'
import { settings } from '../src/settings/index.ts'
import { checkManifests, ofKind, readManifests } from './harness/deploy/manifests.ts'
import { useTestServer } from './harness/server.ts'

const folder = new URL('../../deploy/kubernetes/', import.meta.url)
const kustomization = load(readFileSync(new URL('kustomization.yaml', folder), 'utf8')) as {
  namespace: string
  resources: string[]
  images: { name: string; newTag: string }[]
}
const applied = kustomization.resources.flatMap(readManifests)
const examples = ['secret.example.yaml', 'ingress.example.yaml'].flatMap(readManifests)
const all = [...applied, ...examples]

const deployments = ofKind(applied, 'Deployment')
const [job = assert.fail()] = ofKind(applied, 'Job')
const templates = [...deployments, job].map((one) => {
  const { metadata, spec } = one.spec?.template ?? assert.fail()
  const [container = assert.fail()] = spec?.containers ?? []
  return { name: one.metadata.name, labels: metadata?.labels ?? {}, spec: spec ?? assert.fail(), container }
})
const processes = templates.filter(({ name }) => name !== job.metadata.name)

type Labels = Readonly<Record<string, string>>
const matches = (labels: Labels, selector: Labels = {}) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)
/** The names of the workloads whose pods a selector takes. */
const select = (selector: Labels | undefined) =>
  templates.filter(({ labels }) => matches(labels, selector)).map(({ name }) => name)

describe('deploy/kubernetes/', () => {
  const server = useTestServer({ engine: 'sqlite' })

  test('every file is applied or an example, and is what the API of Kubernetes takes', async () => {
    assert.deepEqual(
      readdirSync(folder)
        .filter((name) => !name.endsWith('.example.yaml'))
        .sort(),
      [...kustomization.resources, 'kustomization.yaml'].sort(),
    )
    const [misplaced, mistyped] = [structuredClone(job), structuredClone(job)]
    Object.assign(misplaced.spec?.template.spec ?? {}, { livenessProbe: {} })
    Object.assign(mistyped.spec ?? {}, { backoffLimit: '6' })
    const found = (await checkManifests([...all, misplaced, mistyped]))
      .split('\n')
      .filter((line) => /error TS/.test(line))
    assert.equal(found.length, 2, found.join('\n'))
    assert.match(found[0] ?? '', /livenessProbe.* does not exist in type 'PodSpec'/)
    assert.match(found[1] ?? '', /Type 'string' is not assignable to type 'number'/)
  })

  test('every setting exists, and has a value that is taken', () => {
    const names = new Set(Object.values(settings).map(({ name }) => name))
    const [{ data: shared } = assert.fail()] = ofKind(applied, 'ConfigMap')
    const [{ stringData: secret } = assert.fail()] = ofKind(examples, 'Secret')
    const environment = { ...shared, ...secret }
    for (const name of Object.keys(environment)) assert.ok(names.has(name) || name === 'NODE_ENV', name)
    const config = readConfig({ ...environment, SECRETS_KEY: 'a'.repeat(64) })
    assert.deepEqual([config.production, config.host, config.filesUrl?.bucket], [true, '0.0.0.0', 'switchboard'])
    for (const { container, spec } of templates) {
      const mounts = new Map(container.volumeMounts?.map(({ name, mountPath }) => [mountPath, name]))
      assert.ok(mounts.has(config.dataDir) && mounts.has('/tmp'))
      assert.deepEqual(spec.volumes?.map(({ name }) => name).sort(), [...mounts.values()].sort())
    }
    for (const { container } of processes) {
      assert.deepEqual(container.ports, [{ name: 'http', containerPort: config.port }])
    }
    assert.doesNotMatch(JSON.stringify(secret), /[A-Za-z0-9+/]{32}/, 'nothing that could be a secret')
  })

  test('what the pods refer to is there', () => {
    const nameOf = (kind: 'ConfigMap' | 'Secret') => ofKind(all, kind).map(({ metadata }) => metadata.name)
    for (const { container } of templates) {
      const sources = container.envFrom ?? []
      assert.deepEqual(
        sources.flatMap(({ configMapRef }) => configMapRef?.name ?? []),
        nameOf('ConfigMap'),
      )
      assert.deepEqual(
        sources.flatMap(({ secretRef }) => secretRef?.name ?? []),
        nameOf('Secret'),
      )
      assert.ok(kustomization.images.some(({ name }) => name === container.image))
    }
    for (const { newTag } of kustomization.images) assert.match(newTag, /^\d+\.\d+\.\d+$/)
    for (const { metadata } of examples) assert.equal(metadata.namespace, kustomization.namespace)
    assert.deepEqual(
      ofKind(applied, 'Namespace').map(({ metadata }) => metadata.name),
      [kustomization.namespace],
    )
  })

  test('selectors take the pods that they are for, and no others', () => {
    for (const { metadata, spec } of deployments) {
      assert.deepEqual(select(spec?.selector.matchLabels), [metadata.name])
      for (const spread of spec?.template.spec?.topologySpreadConstraints ?? []) {
        assert.deepEqual(select(spread.labelSelector?.matchLabels), [metadata.name])
      }
    }
    assert.deepEqual(
      ofKind(applied, 'PodDisruptionBudget').map(({ metadata, spec }) => [
        metadata.name,
        select(spec?.selector?.matchLabels),
        spec?.maxUnavailable,
      ]),
      deployments.map(({ metadata: { name } }) => [name, [name], 1]),
    )
    const [{ metadata, spec } = assert.fail()] = ofKind(applied, 'Service')
    assert.deepEqual(select(spec?.selector), ['switchboard-api'])
    const ports = spec?.ports?.map(({ targetPort }) => targetPort)
    assert.deepEqual(ports, ['http'])
    const paths = ofKind(examples, 'Ingress').flatMap((one) => one.spec?.rules?.[0]?.http?.paths ?? [])
    const routes = paths.map(({ path, backend }) => [path, backend.service?.name])
    const none = ofKind(examples, 'Service').find((one) => one.spec?.selector === undefined)?.metadata.name
    assert.deepEqual(routes, [
      ['/healthz', none],
      ['/readyz', none],
      ['/metrics', none],
      ['/', metadata.name],
    ])
  })

  test('only the ingress controller reaches the API, and only Prometheus the rest', () => {
    const reached = ofKind(applied, 'NetworkPolicy').map(({ spec }) => {
      assert.deepEqual(spec?.policyTypes, ['Ingress'])
      const peers = spec?.ingress?.flatMap(({ from = [], ports }) => {
        assert.deepEqual(ports, [{ port: 'http' }])
        return from.map((peer) => peer.namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'])
      })
      return [select(spec?.podSelector.matchLabels), peers]
    })
    assert.deepEqual(reached, [
      [templates.map(({ name }) => name), ['monitoring']],
      [['switchboard-api'], ['ingress-nginx']],
    ])
  })

  test('probes ask what there is, within the time that it takes, and a stop has the time that it needs', async () => {
    for (const { container, spec, name } of processes) {
      const { startupProbe, livenessProbe, readinessProbe } = container
      const probes = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe ?? assert.fail())
      assert.deepEqual(
        probes.map(({ httpGet }) => [httpGet?.path, httpGet?.port]),
        [
          ['/healthz', 'http'],
          ['/healthz', 'http'],
          ['/readyz/process', 'http'],
        ],
      )
      for (const { httpGet, timeoutSeconds = 1 } of probes) {
        assert.ok(timeoutSeconds >= 2)
        assert.equal((await fetch(`${server.url}${httpGet?.path}`)).status, 200)
      }
      const [, pause = '0'] = container.lifecycle?.preStop?.exec?.command ?? []
      assert.ok((spec.terminationGracePeriodSeconds ?? 0) - Number(pause) > 25, name)
      assert.deepEqual(container.args, ['serve', '--role', name.replace('switchboard-', '')])
    }
    assert.deepEqual(job.spec?.template.spec?.containers[0]?.args, ['migrate'])
  })

  test('nothing runs as root, may become it, or writes elsewhere than into its volumes', () => {
    const image = readFileSync(new URL('../../Dockerfile', folder), 'utf8')
    for (const { spec, container } of templates) {
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext ?? {}
      assert.deepEqual([runAsNonRoot, seccompProfile], [true, { type: 'RuntimeDefault' }])
      assert.match(image, new RegExp(`^USER ${runAsUser}$`, 'm'))
      assert.deepEqual([spec.automountServiceAccountToken, spec.enableServiceLinks], [false, false])
      assert.ok(spec.volumes?.every(({ emptyDir }) => emptyDir?.sizeLimit))
      assert.ok(container.resources?.requests?.['memory'] && container.resources.limits?.['memory'])
    }
  })
})
