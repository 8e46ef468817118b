import type { Deployment } from 'kubernetes-types/apps/v1.js'
import type { Job } from 'kubernetes-types/batch/v1.js'
import type { ConfigMap, Namespace, Secret, Service } from 'kubernetes-types/core/v1.js'
import type { Ingress, NetworkPolicy } from 'kubernetes-types/networking/v1.js'
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js'

/** The objects that our manifests describe, as the API of Kubernetes defines them; another kind must be added here. */
export interface Kinds {
  readonly ConfigMap: Complete<ConfigMap, 'v1', 'ConfigMap'>
  readonly Deployment: Complete<Deployment, 'apps/v1', 'Deployment'>
  readonly Ingress: Complete<Ingress, 'networking.k8s.io/v1', 'Ingress'>
  readonly Job: Complete<Job, 'batch/v1', 'Job'>
  readonly Namespace: Complete<Namespace, 'v1', 'Namespace'>
  readonly NetworkPolicy: Complete<NetworkPolicy, 'networking.k8s.io/v1', 'NetworkPolicy'>
  readonly PodDisruptionBudget: Complete<PodDisruptionBudget, 'policy/v1', 'PodDisruptionBudget'>
  readonly Secret: Complete<Secret, 'v1', 'Secret'>
  readonly Service: Complete<Service, 'v1', 'Service'>
}

/** In the types these members are optional, because a server adds them to what it returns. */
type Complete<T extends { metadata?: { name?: string } }, Version extends string, Kind extends string> = T & {
  readonly apiVersion: Version
  readonly kind: Kind
  readonly metadata: NonNullable<T['metadata']> & { readonly name: string }
}

export type Manifest = Kinds[keyof Kinds]
