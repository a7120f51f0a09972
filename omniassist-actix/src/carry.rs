use actix_web::{HttpMessage, HttpRequest, web};
use http::Extensions;
use omniassist_server::Principal;

/// Clones one value of a request for the tools, if the request has it.
pub(crate) type Carry = fn(&HttpRequest, &mut Extensions);

pub(crate) fn principal(from: &HttpRequest, to: &mut Extensions) {
    extension::<Principal>(from, to);
}

pub(crate) fn extension<T: Clone + Send + Sync + 'static>(from: &HttpRequest, to: &mut Extensions) {
    if let Some(value) = from.extensions().get::<T>() {
        to.insert(value.clone());
    }
}

pub(crate) fn app_data<T: Clone + Send + Sync + 'static>(from: &HttpRequest, to: &mut Extensions) {
    if let Some(value) = from.app_data::<T>() {
        to.insert(value.clone());
    }
}

pub(crate) fn data<T: Send + Sync + ?Sized + 'static>(from: &HttpRequest, to: &mut Extensions) {
    app_data::<web::Data<T>>(from, to);
}
