import type { MessageTemplatesTable, TemplateButton } from '../../../db/tables.ts'
import type { BodyInput } from '../schemas.ts'

/** What a template of the library says in a language. */
export interface LibraryText {
  readonly header?: string
  readonly body: string
  /** One for each variable of the body. */
  readonly examples: readonly string[]
  /** What can be added to the body, in this order. */
  readonly additions?: Readonly<Partial<Record<BodyInput, string>>>
  readonly footer?: string
  /** Where a URL or a PHONE_NUMBER leads to is given with the template. */
  readonly buttons?: readonly { readonly type: TemplateButton['type']; readonly text: string }[]
}

export interface LibraryTemplate {
  readonly category: MessageTemplatesTable['category']
  /** By the code of the language. */
  readonly texts: Readonly<Record<string, LibraryText>>
}

/** The templates that a business can take over by `library_template_name`: their words are written already. */
export const libraryTemplates: Readonly<Record<string, LibraryTemplate>> = {
  order_confirmation: {
    category: 'UTILITY',
    texts: {
      en_US: {
        header: 'Thank you for your order',
        body: 'Hi {{1}}, we have received your order {{2}} and are getting it ready.',
        examples: ['Ada', 'A-1042'],
        additions: {
          add_contact_number: 'Call us if you would like to change anything.',
          add_learn_more_link: 'All details are on the page of your order.',
        },
        buttons: [{ type: 'URL', text: 'View order' }],
      },
      es: {
        header: 'Gracias por tu pedido',
        body: 'Hola {{1}}, hemos recibido tu pedido {{2}} y ya lo estamos preparando.',
        examples: ['Ada', 'A-1042'],
        additions: {
          add_contact_number: 'Llámanos si quieres cambiar algo.',
          add_learn_more_link: 'Todos los detalles están en la página de tu pedido.',
        },
        buttons: [{ type: 'URL', text: 'Ver pedido' }],
      },
    },
  },
  delivery_update: {
    category: 'UTILITY',
    texts: {
      en_US: {
        body: 'Good news, {{1}}: your parcel is on its way and should reach you on {{2}} at the latest.',
        examples: ['Ada', 'June 3'],
        additions: {
          add_track_package_link: 'The button below shows where it is.',
          add_contact_number: 'Our team is a call away if you have questions.',
        },
        buttons: [
          { type: 'URL', text: 'Track parcel' },
          { type: 'PHONE_NUMBER', text: 'Call us' },
        ],
      },
      es: {
        body: 'Buenas noticias, {{1}}: tu paquete está en camino y llegará el {{2}} a más tardar.',
        examples: ['Ada', '3 de junio'],
        additions: {
          add_track_package_link: 'El botón de abajo muestra dónde está.',
          add_contact_number: 'Si tienes preguntas, nuestro equipo te atiende por teléfono.',
        },
        buttons: [
          { type: 'URL', text: 'Seguir paquete' },
          { type: 'PHONE_NUMBER', text: 'Llamar' },
        ],
      },
    },
  },
  appointment_reminder: {
    category: 'UTILITY',
    texts: {
      en_US: {
        header: 'See you soon',
        body: 'Hello {{1}}, this is a reminder of your appointment on {{2}} at {{3}} with our team.',
        examples: ['Ada', 'June 3', '10:30'],
        additions: { add_contact_number: 'Call us if you have to move it.' },
        buttons: [
          { type: 'QUICK_REPLY', text: 'Confirm' },
          { type: 'QUICK_REPLY', text: 'Cancel' },
        ],
      },
      es: {
        header: 'Hasta pronto',
        body: 'Hola {{1}}, te recordamos tu cita del {{2}} a las {{3}} con nuestro equipo.',
        examples: ['Ada', '3 de junio', '10:30'],
        additions: { add_contact_number: 'Llámanos si necesitas cambiarla.' },
        buttons: [
          { type: 'QUICK_REPLY', text: 'Confirmar' },
          { type: 'QUICK_REPLY', text: 'Cancelar' },
        ],
      },
    },
  },
  payment_received: {
    category: 'UTILITY',
    texts: {
      en_US: {
        body: 'Thank you, {{1}}. Your payment of {{2}} has arrived, and nothing else is due.',
        examples: ['Ada', '$25.00'],
        additions: { add_learn_more_link: 'The receipt is behind the button below.' },
        footer: 'Keep this message for your records.',
        buttons: [{ type: 'URL', text: 'View receipt' }],
      },
      es: {
        body: 'Gracias, {{1}}. Hemos recibido tu pago de {{2}} y no queda nada pendiente.',
        examples: ['Ada', '25,00 €'],
        additions: { add_learn_more_link: 'El recibo está en el botón de abajo.' },
        footer: 'Guarda este mensaje para tus registros.',
        buttons: [{ type: 'URL', text: 'Ver recibo' }],
      },
    },
  },
  account_alert: {
    category: 'UTILITY',
    texts: {
      en_US: {
        header: 'A change to your account',
        body: 'Hi {{1}}, the {{2}} of your account was changed today. If this was not you, please contact us.',
        examples: ['Ada', 'e-mail address'],
        buttons: [{ type: 'PHONE_NUMBER', text: 'Call support' }],
      },
      es: {
        header: 'Un cambio en tu cuenta',
        body: 'Hola {{1}}, hoy se ha cambiado {{2}} de tu cuenta. Si no has sido tú, ponte en contacto con nosotros.',
        examples: ['Ada', 'la dirección de correo'],
        buttons: [{ type: 'PHONE_NUMBER', text: 'Llamar a soporte' }],
      },
    },
  },
  feedback_request: {
    category: 'UTILITY',
    texts: {
      en_US: {
        body: 'Hello {{1}}, how was your visit on {{2}}? Your opinion helps us to get better.',
        examples: ['Ada', 'June 3'],
        buttons: [
          { type: 'QUICK_REPLY', text: 'Very good' },
          { type: 'QUICK_REPLY', text: 'Could be better' },
        ],
      },
      es: {
        body: 'Hola {{1}}, ¿qué tal fue tu visita del {{2}}? Tu opinión nos ayuda a mejorar.',
        examples: ['Ada', '3 de junio'],
        buttons: [
          { type: 'QUICK_REPLY', text: 'Muy bien' },
          { type: 'QUICK_REPLY', text: 'Podría mejorar' },
        ],
      },
    },
  },
}
