//! Small documents in the styles of well-known public ones: the tools, the requests and the errors that their users expect.

use omniassist_openapi::Auth;
use serde_json::{Value, json};

use crate::server::{Server, call, document, failed, reply, schema, tool};

fn json_body(schema: &Value) -> Value {
    json!({ "required": true, "content": { "application/json": { "schema": schema } } })
}

fn query(name: &str, schema: &Value) -> Value {
    json!({ "name": name, "in": "query", "schema": schema })
}

#[tokio::test]
async fn a_code_host_with_slashes_in_ids_and_alternatives_of_required_fields() {
    let server = Server::start().await;
    let owner = json!({ "name": "owner", "in": "path", "required": true, "schema": { "type": "string" } });
    let body = json!({ "type": "object", "properties": {
        "labels": { "type": "array", "items": { "type": "string" } }, "milestone": { "type": ["integer", "null"], "nullable": true },
    }, "anyOf": [{ "required": ["labels"] }, { "required": ["milestone"] }] });
    let mut document = document(
        "3.1.0",
        &json!({ "/repos/{owner}/issues": {
        "parameters": [{ "$ref": "#/components/parameters/owner" }],
        "get": { "operationId": "issues/list-for-repo", "summary": "List issues", "tags": ["issues"], "parameters": [
            query("labels[]", &json!({ "type": "array", "items": { "type": "string" } })), query("per_page", &json!({ "type": "integer", "maximum": 100 })) ] },
        "post": { "operationId": "issues/update", "requestBody": json_body(&body) },
    } }),
    );
    document["components"] = json!({ "parameters": { "owner": owner } });
    document["webhooks"] = json!({ "issue-opened": { "post": { "operationId": "issue-opened", "requestBody": json_body(&json!({})) } } });
    let tools = server.open(&document).tools().unwrap();
    assert!(tools.skipped().is_empty() && tools.loosened().is_empty());
    // A webhook is no operation of the server.
    let names: Vec<&str> = tools.tools().iter().map(omniassist_server::Tool::name).collect();
    assert!(names.len() == 2 && names[0].starts_with("t_issues_list-for-repo_"), "{names:?}");
    let list = tool(&tools, names[0]);
    let labels = schema(&list)["properties"]
        .as_object()
        .unwrap()
        .keys()
        .find(|key| key.starts_with("labels"))
        .unwrap()
        .clone();
    call(&list, &json!({ "owner": "a/b", labels: ["bug", "ui"], "per_page": 5 })).await.unwrap();
    assert_eq!(server.last().target, "/repos/a%2Fb/issues?labels%5B%5D=bug&labels%5B%5D=ui&per_page=5");
    let update = tool(&tools, names[1]);
    call(&update, &json!({ "owner": "a", "body": { "milestone": null } })).await.unwrap();
    assert_eq!(server.last().body, r#"{"milestone":null}"#);
    server.reply(reply(
        422,
        "application/json",
        r#"{"message":"Validation Failed","errors":[{"field":"labels"}]}"#,
    ));
    let text = failed(&update, &json!({ "owner": "a", "body": { "labels": [] } })).await;
    assert!(text.contains("422") && text.contains("Validation Failed") && text.contains("labels"), "{text}");
}

#[tokio::test]
async fn a_payment_service_with_forms_of_objects() {
    let server = Server::start().await;
    let form = json!({ "content": { "application/x-www-form-urlencoded": {
        "encoding": { "expand": { "explode": true, "style": "deepObject" }, "items": { "explode": true, "style": "deepObject" },
            "metadata": { "explode": true, "style": "deepObject" } },
        "schema": { "type": "object", "required": ["customer"], "additionalProperties": false, "properties": {
            "customer": { "type": "string", "maxLength": 5000 },
            "expand": { "type": "array", "items": { "type": "string", "maxLength": 5000 } },
            "items": { "type": "array", "items": { "type": "object", "properties": { "price": { "type": "string" }, "quantity": { "type": "integer" } } } },
            "metadata": { "anyOf": [{ "type": "object", "additionalProperties": { "type": "string" } }, { "type": "string", "enum": [""] }] },
        } } } }, "required": true });
    let nothing = json!({ "content": { "application/x-www-form-urlencoded": { "encoding": {}, "schema": {
        "type": "object", "properties": {}, "additionalProperties": false } } }, "required": false });
    let mut document = document(
        "3.0.0",
        &json!({
            "/v1/subscriptions": { "post": { "operationId": "PostSubscriptions", "requestBody": form } },
            "/v1/subscriptions/{id}": { "delete": { "operationId": "DeleteSubscription", "requestBody": nothing,
                "parameters": [{ "name": "id", "in": "path", "required": true, "style": "simple", "schema": { "type": "string", "maxLength": 5000 } }] } },
        }),
    );
    document["components"] =
        json!({ "securitySchemes": { "basicAuth": { "type": "http", "scheme": "basic" } } });
    document["security"] = json!([{ "basicAuth": [] }]);
    let tools = server.open(&document).auth("basicAuth", Auth::basic("sk_test_1", "")).tools().unwrap();
    let create = tool(&tools, "t_PostSubscriptions");
    let arguments = json!({ "customer": "cus 1", "expand": ["a.b"], "items": [{ "price": "p1", "quantity": 2 }, { "price": "p2" }], "metadata": { "k": "v" } });
    call(&create, &arguments).await.unwrap();
    assert_eq!(
        server.last().body.replace("%5B", "[").replace("%5D", "]"),
        "customer=cus%201&expand[0]=a.b&items[0][price]=p1&items[0][quantity]=2&items[1][price]=p2&metadata[k]=v"
    );
    assert!(server.last().header("authorization").starts_with("Basic "));
    // A body without fields is no argument.
    let delete = tool(&tools, "t_DeleteSubscription");
    assert_eq!(schema(&delete)["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["id"]);
    call(&delete, &json!({ "id": "s" })).await.unwrap();
    assert_eq!((server.last().target.as_str(), server.last().body.as_str()), ("/v1/subscriptions/s", ""));
}

#[tokio::test]
async fn a_cluster_with_patches_circles_and_values_of_two_types() {
    let server = Server::start().await;
    let parameters = json!([
        { "name": "name", "in": "path", "required": true, "description": "name of the Deployment", "schema": { "type": "string", "uniqueItems": true } },
        query("pretty", &json!({ "type": "string", "uniqueItems": true })),
    ]);
    let patch = json!({ "$ref": "#/components/schemas/Patch" });
    let content = json!({ "application/json-patch+json": { "schema": patch }, "application/merge-patch+json": { "schema": patch },
        "application/apply-patch+yaml": { "schema": patch } });
    let mut document = document(
        "3.0.0",
        &json!({ "/apis/apps/v1/deployments/{name}": {
        "put": { "operationId": "replaceDeployment", "requestBody": { "required": true, "content": { "*/*": { "schema": { "$ref": "#/components/schemas/Deployment" } } } },
            "x-kubernetes-action": "put" },
        "patch": { "operationId": "patchDeployment", "requestBody": { "required": true, "content": content } },
        "parameters": parameters,
    } }),
    );
    document["components"] = json!({ "schemas": {
        "Patch": { "description": "A partial object", "type": "object" },
        "Deployment": { "type": "object", "x-kubernetes-group-version-kind": [{ "kind": "Deployment" }], "properties": {
            "kind": { "type": "string" }, "status": { "type": "string", "readOnly": true },
            "spec": { "allOf": [{ "$ref": "#/components/schemas/Props" }], "default": {}, "description": "The desired state" },
        } },
        "Props": { "type": "object", "properties": {
            "not": { "$ref": "#/components/schemas/Props" }, "port": { "$ref": "#/components/schemas/IntOrString" },
            "$schema": { "type": "string" }, "x-kubernetes-list-type": { "type": "string" },
        } },
        "IntOrString": { "format": "int-or-string", "oneOf": [{ "type": "integer" }, { "type": "string" }] },
    } });
    let tools = server.open(&document).tools().unwrap();
    assert!(tools.loosened().is_empty(), "{:?}", tools.loosened());
    let replace = tool(&tools, "t_replaceDeployment");
    let schema = schema(&replace);
    assert_eq!(
        schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["kind", "name", "pretty", "spec"]
    );
    let renamed = schema["$defs"]["Props"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .find(|key| key.starts_with("_schema"))
        .unwrap();
    let spec = json!({ "not": { "port": 80 }, "port": "http", renamed: "s" });
    call(&replace, &json!({ "name": "web", "kind": "Deployment", "spec": spec })).await.unwrap();
    let sent: Value = serde_json::from_str(&server.last().body).unwrap();
    assert_eq!(
        sent,
        json!({ "kind": "Deployment", "spec": { "not": { "port": 80 }, "port": "http", "$schema": "s" } })
    );
    assert_eq!(server.last().header("content-type"), "application/json");
    call(
        &tool(&tools, "t_patchDeployment"),
        &json!({ "name": "web", "body": { "spec": { "replicas": 2 } } }),
    )
    .await
    .unwrap();
    assert_eq!(server.last().header("content-type"), "application/merge-patch+json");
    assert_eq!(server.last().body, r#"{"spec":{"replicas":2}}"#);
}

#[tokio::test]
async fn a_pet_store_in_both_versions() {
    let server = Server::start().await;
    for version in ["3.0.2", "3.1.0"] {
        let pet = json!({ "$ref": "#/components/schemas/Pet" });
        let content = json!({ "application/xml": { "schema": pet }, "application/json": { "schema": pet }, "application/x-www-form-urlencoded": { "schema": pet } });
        let mut document = document(
            version,
            &json!({
                "/pet": { "post": { "tags": ["pet"], "summary": "Add a new pet to the store", "operationId": "addPet",
                    "requestBody": { "content": content, "required": true }, "security": [{ "petstore_auth": ["write:pets", "read:pets"] }] } },
                "/pet/findByStatus": { "get": { "operationId": "findPetsByStatus", "parameters": [{ "name": "status", "in": "query", "explode": true,
                    "schema": { "type": "string", "default": "available", "enum": ["available", "pending", "sold"] } }], "security": [{ "petstore_auth": [] }] } },
                "/pet/{petId}/uploadImage": { "post": { "operationId": "uploadFile", "parameters": [{ "name": "petId", "in": "path", "required": true, "schema": { "type": "integer", "format": "int64" } }],
                    "requestBody": { "required": true, "content": { "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } } } } },
                "/store/inventory": { "get": { "operationId": "getInventory", "security": [{ "api_key": [] }] } },
                "/user/createWithList": { "post": { "operationId": "createUsersWithListInput", "requestBody": json_body(&json!({ "type": "array", "items": { "type": "object", "properties": { "id": { "type": "integer" } } } })) } },
            }),
        );
        document["servers"] = json!([{ "url": "/api/v3" }]);
        document["components"] = json!({
            "schemas": { "Pet": { "required": ["name", "photoUrls"], "type": "object", "xml": { "name": "pet" }, "properties": {
                "id": { "type": "integer", "format": "int64", "example": 10 }, "name": { "type": "string", "example": "doggie" },
                "category": { "$ref": "#/components/schemas/Category" },
                "photoUrls": { "type": "array", "xml": { "wrapped": true }, "items": { "type": "string", "xml": { "name": "photoUrl" } } },
            } }, "Category": { "type": "object", "properties": { "name": { "type": "string" } } } },
            "securitySchemes": { "petstore_auth": { "type": "oauth2", "flows": { "implicit": { "authorizationUrl": "https://x.test", "scopes": {} } } },
                "api_key": { "type": "apiKey", "name": "api_key", "in": "header" } },
        });
        let tools =
            server.open(&document).auth("petstore_auth", Auth::bearer("secret-token")).tools().unwrap();
        let skipped: Vec<(&str, &str)> =
            tools.skipped().iter().map(|one| (one.operation(), one.reason())).collect();
        assert_eq!(
            skipped,
            [
                ("uploadFile", "its body is neither JSON nor a form nor text"),
                ("getInventory", "there are no credentials for its security: api_key"),
            ]
        );
        let find = |name: &str| tools.tools().iter().find(|tool| tool.name() == name).unwrap().clone();
        call(&find("t_addPet"), &json!({ "name": "Rex", "photoUrls": [], "category": { "name": "dogs" } }))
            .await
            .unwrap();
        let received = server.last();
        assert_eq!(
            (received.header("content-type"), received.header("authorization")),
            ("application/json", "Bearer secret-token")
        );
        assert_eq!(received.body, r#"{"category":{"name":"dogs"},"name":"Rex","photoUrls":[]}"#);
        call(&find("t_findPetsByStatus"), &json!({ "status": "sold" })).await.unwrap();
        assert_eq!(server.last().target, "/pet/findByStatus?status=sold");
        call(&find("t_createUsersWithListInput"), &json!({ "body": [{ "id": 1 }] })).await.unwrap();
        assert_eq!(server.last().body, r#"[{"id":1}]"#);
    }
}

#[tokio::test]
async fn a_python_service_whose_optional_values_are_any_of_null() {
    let server = Server::start().await;
    let optional =
        |kind: &str, title: &str| json!({ "anyOf": [{ "type": kind }, { "type": "null" }], "title": title });
    let upload = json!({ "required": true, "content": { "multipart/form-data": { "schema": { "$ref": "#/components/schemas/Body_upload" } } } });
    let mut document = document(
        "3.1.0",
        &json!({
            "/items/{item_id}": { "put": { "summary": "Update Item", "operationId": "update_item_items__item_id__put", "parameters": [
                { "name": "item_id", "in": "path", "required": true, "schema": { "type": "string", "format": "uuid", "title": "Item Id" } },
                { "name": "q", "in": "query", "required": false, "schema": optional("string", "Q") },
                { "name": "tags", "in": "query", "required": false, "schema": { "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "null" }] } },
                { "name": "x-tracking", "in": "header", "required": false, "schema": optional("string", "X-Tracking") },
                { "name": "ads_id", "in": "cookie", "required": false, "schema": optional("string", "Ads Id") },
            ], "requestBody": json_body(&json!({ "$ref": "#/components/schemas/Item" })) } },
            "/upload": { "post": { "operationId": "upload", "requestBody": upload } },
        }),
    );
    document["components"] = json!({ "schemas": {
        "Item": { "type": "object", "title": "Item", "required": ["name", "price"], "properties": {
            "name": { "type": "string", "title": "Name", "examples": ["Foo"] }, "price": { "type": "number", "exclusiveMinimum": 0.0 },
            "tax": optional("number", "Tax"), "kind": { "const": "item", "default": "item" },
            "size": { "anyOf": [{ "$ref": "#/components/schemas/Size" }, { "type": "null" }] },
        } },
        "Size": { "type": "string", "enum": ["s", "m"], "title": "Size" },
        "Body_upload": { "type": "object", "required": ["note"], "properties": {
            "note": { "type": "string" }, "file": { "anyOf": [{ "type": "string", "contentMediaType": "application/octet-stream" }, { "type": "null" }] } } },
    } });
    let tools = server.open(&document).tools().unwrap();
    let put = tool(&tools, "t_update_item_items__item_id__put");
    let id = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d";
    assert_eq!(schema(&put)["required"], json!(["item_id", "name", "price"]));
    let arguments = json!({ "item_id": id, "q": null, "tags": ["a", "b"], "x-tracking": "t", "ads_id": "7", "name": "n", "price": 1.5, "tax": null, "size": "m" });
    call(&put, &arguments).await.unwrap();
    let received = server.last();
    assert_eq!(received.target, format!("/items/{id}?tags=a&tags=b"));
    assert_eq!((received.header("x-tracking"), received.header("cookie")), ("t", "ads_id=7"));
    assert_eq!(received.body, r#"{"name":"n","price":1.5,"size":"m","tax":null}"#);
    let detail = json!({ "detail": [{ "loc": ["body", "price"], "msg": "Input should be greater than 0" }] });
    server.reply(reply(422, "application/json", detail.to_string()));
    let text = failed(&put, &json!({ "item_id": id, "name": "n", "price": 2 })).await;
    assert!(
        text.starts_with("The server answered 422") && text.contains("Input should be greater than 0"),
        "{text}"
    );
    // The optional file is left out, and the rest of the form is sent.
    call(&tool(&tools, "t_upload"), &json!({ "note": "hello" })).await.unwrap();
    assert!(server.last().body.contains("name=\"note\"\r\n\r\nhello\r\n"), "{}", server.last().body);
}
