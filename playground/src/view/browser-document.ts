/** What charts need of `linkedom`, from the browser: a document apart from the page's. */
export const parseHTML = (): { readonly document: Document } => ({
  document: document.implementation.createHTMLDocument(),
});
