/** Returns a new empty HTML document that is separate from the page's document. Charts are drawn in it. */
export const parseHTML = (): { readonly document: Document } => ({
  document: document.implementation.createHTMLDocument(),
});
