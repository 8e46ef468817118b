/** A client library of the public platform, and how it is pointed at another server. */
export interface PublicLibrary {
  readonly name: string
  readonly language: string
  /** How its base URL is set, in Markdown. */
  readonly baseUrl: string
  /** How its version is set, and which one it asks for otherwise, in Markdown. */
  readonly version: string
}

/** The libraries whose requests are tested (server/test/library-shapes.test.ts), in the same order. */
export const publicLibraries: readonly PublicLibrary[] = [
  {
    name: 'whatsapp (the Node.js SDK)',
    language: 'JavaScript',
    baseUrl: 'the variable `WA_BASE_URL`: a host name alone, always called with HTTPS on port 443',
    version: 'the variable `CLOUD_API_VERSION`, which is required',
  },
  {
    name: 'pywa',
    language: 'Python',
    baseUrl: "after `wa = WhatsApp(…, session=session)` with an `httpx.Client`: `session.base_url = 'http://…/v23.0'`",
    version: '`api_version`; the newest that it knows, `26.0`',
  },
  {
    name: 'heyoo',
    language: 'Python',
    baseUrl: 'after the constructor, the attributes `base_url`, `v15_base_url` and `url` (that of `…/messages`)',
    version: 'in these attributes; `v14.0`, and `v15.0` to mark messages as read',
  },
  {
    name: 'whatsapp-cloud-api',
    language: 'JavaScript',
    baseUrl: 'no option: an interceptor of `axios` replaces the host',
    version: 'the argument `version` of `createBot`; `v14.0`',
  },
  {
    name: 'whatsapp-api-js',
    language: 'TypeScript',
    baseUrl: 'no option: `ponyfill: { fetch }` with a `fetch` that replaces the host',
    version: '`v`; `v24.0`',
  },
  {
    name: 'netflie/whatsapp-cloud-api',
    language: 'PHP',
    baseUrl: "no option: `'client_handler'` with a `ClientHandler` that replaces the host",
    version: "`'graph_version'`; `v17.0`",
  },
  {
    name: 'whatsapp-business-java-api',
    language: 'Java',
    baseUrl: '`WhatsappApiConfig.setBaseDomain("http://…/")`',
    version: '`WhatsappApiConfig.setApiVersion(…)`; `v19.0`',
  },
  {
    name: 'piusalfred/whatsapp',
    language: 'Go',
    baseUrl: '`BaseURL` of `config.Config`',
    version: '`APIVersion` of `config.Config`; none, and then the path has no version',
  },
  {
    name: 'WhatsappBusiness.CloudApi',
    language: 'C#',
    baseUrl: '`new WhatsAppBusinessClient(httpClient, config)` with `BaseAddress = new Uri("http://…/v23.0/")`',
    version: 'in `BaseAddress`, or `graphAPIVersion`; `v24.0`',
  },
]
