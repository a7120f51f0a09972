//! The 300 tools of a back office and questions of its employees.

use std::sync::{Arc, Mutex};

use omniassist_server::{Tool, ToolError};
use serde_json::{Map, Value, json};

/// One part of the application: its noun, the plural, the fields, and four specific actions with their descriptions.
/// The other six actions are the same for each part.
type Area = (&'static str, &'static str, &'static [&'static str], [(&'static str, &'static str); 4]);

#[rustfmt::skip]
const AREAS: [Area; 30] = [
    ("order", "orders", &["customer", "status", "total"], [
        ("refund_order", "Pays the money of an order back, whole or in part"), ("cancel_order", "Cancels an order before it is shipped"),
        ("track_order", "Tells where the parcel of an order is"), ("split_order", "Divides an order into two deliveries")]),
    ("customer", "customers", &["name", "city", "email"], [
        ("merge_customers", "Joins two records of the same customer"), ("block_customer", "Stops a customer from ordering"),
        ("get_customer_balance", "The amount that a customer owes"), ("set_customer_discount", "Gives a customer a percentage off")]),
    ("invoice", "invoices", &["customer", "amount", "due_date"], [
        ("send_invoice", "Sends an invoice to its customer by e-mail"), ("void_invoice", "Makes an issued invoice invalid"),
        ("record_invoice_payment", "Marks an invoice as paid"), ("remind_invoice", "Sends a reminder about an unpaid invoice")]),
    ("product", "products", &["name", "category", "price"], [
        ("set_product_price", "Changes the price of a product"), ("discontinue_product", "Takes a product out of the range"),
        ("duplicate_product", "Copies a product under a new name"), ("add_product_image", "Puts a picture on the page of a product")]),
    ("warehouse", "warehouses", &["name", "country", "capacity"], [
        ("count_stock", "The number of pieces of an article in a warehouse"), ("transfer_stock", "Moves pieces from one warehouse to another"),
        ("adjust_stock", "Corrects the recorded stock after a count"), ("reserve_stock", "Keeps pieces for a customer")]),
    ("supplier", "suppliers", &["name", "country", "rating"], [
        ("rate_supplier", "Gives a supplier 1 to 5 stars"), ("request_supplier_quote", "Asks a supplier for a price"),
        ("suspend_supplier", "Places no more purchases with a supplier"), ("list_supplier_contracts", "The contracts with a supplier")]),
    ("shipment", "shipments", &["carrier", "weight", "destination"], [
        ("print_shipment_label", "Makes the label of a parcel"), ("reroute_shipment", "Changes the address of a parcel that is on its way"),
        ("estimate_shipment_cost", "The price of a delivery before it is booked"), ("report_lost_shipment", "Opens a claim with the carrier for a missing parcel")]),
    ("ticket", "tickets", &["subject", "priority", "status"], [
        ("close_ticket", "Marks a request for support as solved"), ("reopen_ticket", "Opens a solved request for support again"),
        ("escalate_ticket", "Hands a request for support to the second level"), ("reply_to_ticket", "Answers a request for support")]),
    ("employee", "employees", &["name", "department", "title"], [
        ("promote_employee", "Gives an employee a higher position"), ("terminate_employee", "Ends the contract of an employee"),
        ("get_employee_salary", "The pay of an employee"), ("onboard_employee", "Prepares accounts and equipment for a new colleague")]),
    ("leave_request", "leave_requests", &["employee", "from", "until"], [
        ("approve_leave_request", "Grants days off"), ("reject_leave_request", "Refuses days off, with a reason"),
        ("get_leave_balance", "The days of holiday that an employee has left"), ("withdraw_leave_request", "Takes back an own application for days off")]),
    ("expense_report", "expense_reports", &["employee", "amount", "category"], [
        ("approve_expense_report", "Releases the costs of a business trip for payment"), ("reject_expense_report", "Sends the costs of a business trip back"),
        ("attach_receipt", "Adds the picture of a receipt to an expense report"), ("reimburse_expense_report", "Pays an employee back for costs")]),
    ("project", "projects", &["name", "owner", "deadline"], [
        ("add_project_member", "Gives a colleague access to a project"), ("remove_project_member", "Takes the access to a project away from a colleague"),
        ("get_project_budget", "The money that a project has left"), ("set_project_deadline", "Moves the end of a project")]),
    ("task", "tasks", &["title", "assignee", "due_date"], [
        ("complete_task", "Ticks off a task"), ("assign_task", "Makes a colleague responsible for a task"),
        ("set_task_priority", "Makes a task more or less urgent"), ("add_task_dependency", "Says that a task must wait for another")]),
    ("meeting", "meetings", &["title", "room", "start"], [
        ("reschedule_meeting", "Moves a meeting to another time"), ("invite_to_meeting", "Adds a participant to a meeting"),
        ("find_free_room", "Rooms that nobody has booked at a time"), ("summarise_meeting", "The minutes of a meeting")]),
    ("campaign", "campaigns", &["name", "channel", "budget"], [
        ("launch_campaign", "Starts the mailing of a campaign"), ("pause_campaign", "Halts a running campaign"),
        ("get_campaign_statistics", "Opens, clicks and sales of a campaign"), ("add_campaign_segment", "Chooses the group of people that a campaign reaches")]),
    ("lead", "leads", &["company", "source", "value"], [
        ("qualify_lead", "Marks a possible buyer as promising"), ("convert_lead", "Turns a possible buyer into a customer"),
        ("assign_lead", "Makes a sales person responsible for a possible buyer"), ("score_lead", "How likely a possible buyer will buy")]),
    ("contract", "contracts", &["partner", "start", "end"], [
        ("sign_contract", "Puts the electronic signature under a contract"), ("renew_contract", "Prolongs a contract"),
        ("terminate_contract", "Gives notice of a contract"), ("compare_contract_versions", "The differences between two versions of a contract")]),
    ("subscription", "subscriptions", &["customer", "plan", "renews_on"], [
        ("upgrade_subscription", "Moves a subscriber to a larger plan"), ("pause_subscription", "Suspends the charges of a subscriber for some time"),
        ("cancel_subscription", "Ends a subscription at the end of its period"), ("apply_coupon", "Redeems a voucher for a subscription")]),
    ("payment", "payments", &["customer", "amount", "method"], [
        ("capture_payment", "Collects an authorised card payment"), ("dispute_payment", "Answers a chargeback of a bank"),
        ("retry_payment", "Tries a failed charge again"), ("reconcile_payments", "Matches bank transfers with open items")]),
    ("user", "users", &["name", "email", "role"], [
        ("reset_password", "Sends a link with which a person sets a new password"), ("lock_user", "Prevents a person from logging in"),
        ("grant_role", "Gives a person more rights"), ("list_user_sessions", "The devices on which a person is logged in")]),
    ("server", "servers", &["hostname", "region", "size"], [
        ("restart_server", "Boots a machine again"), ("get_server_load", "Processor and memory use of a machine"),
        ("resize_server", "Gives a machine more processors or memory"), ("read_server_log", "The last lines that a machine wrote to its log")]),
    ("deployment", "deployments", &["service", "version", "environment"], [
        ("roll_back_deployment", "Returns a service to its former version"), ("promote_deployment", "Takes a version from staging to production"),
        ("get_deployment_status", "How far the release of a version is"), ("schedule_deployment", "Plans the release of a version for later")]),
    ("incident", "incidents", &["service", "severity", "status"], [
        ("acknowledge_incident", "Says that somebody works on an outage"), ("resolve_incident", "Declares an outage as over"),
        ("page_on_call", "Wakes the engineer on duty"), ("write_postmortem", "Drafts the analysis of an outage")]),
    ("document", "documents", &["title", "folder", "author"], [
        ("share_document", "Lets another person read a document"), ("translate_document", "A document in another language"),
        ("restore_document_version", "Brings back an earlier state of a document"), ("lock_document", "Protects a document against changes")]),
    ("vehicle", "vehicles", &["plate", "model", "driver"], [
        ("locate_vehicle", "The present position of a car or van"), ("book_vehicle", "Reserves a car for a trip"),
        ("log_vehicle_fuel", "Records litres and price of a filling"), ("schedule_vehicle_service", "Makes an appointment at the garage")]),
    ("course", "courses", &["title", "teacher", "seats"], [
        ("enrol_in_course", "Gives a person a seat in a training"), ("grade_participant", "Enters the mark of a participant"),
        ("issue_certificate", "Makes the certificate of a passed training"), ("list_course_materials", "The slides and papers of a training")]),
    ("survey", "surveys", &["title", "audience", "closes_on"], [
        ("publish_survey", "Sends the questions to the audience"), ("close_survey", "Accepts no more answers to a questionnaire"),
        ("get_survey_results", "The answers to a questionnaire, counted"), ("add_survey_question", "Appends a question to a questionnaire")]),
    ("asset", "assets", &["name", "serial_number", "holder"], [
        ("assign_asset", "Hands a laptop or telephone to an employee"), ("return_asset", "Takes a laptop or telephone back"),
        ("depreciate_asset", "The book value of a device at a date"), ("report_stolen_asset", "Locks a lost device and informs the insurance")]),
    ("budget", "budgets", &["department", "year", "amount"], [
        ("transfer_budget", "Moves money from one department to another"), ("forecast_budget", "What a department will have spent by the end of the year"),
        ("freeze_budget", "Allows no more spending of a department"), ("compare_budget_to_actual", "Planned against real spending")]),
    ("candidate", "candidates", &["name", "position", "stage"], [
        ("schedule_interview", "Finds a time for talking with an applicant"), ("reject_candidate", "Sends an applicant a friendly refusal"),
        ("make_offer", "Sends an applicant the terms of a job"), ("screen_resume", "Compares the CV of an applicant with the position")]),
];

/// The questions, each with its tool.
pub(super) const QUESTIONS: [(&str, &str); 20] = [
    ("Give the customer of order 17 her money back", "refund_order"),
    ("Where is the parcel of order 1001?", "track_order"),
    ("Mark invoice 5 as paid", "record_invoice_payment"),
    ("Change the price of product 12 to 30 euros", "set_product_price"),
    ("How many pieces of the lamp are in warehouse 2?", "count_stock"),
    ("Close ticket 8, it is solved", "close_ticket"),
    ("How many days of holiday has Ada left?", "get_leave_balance"),
    ("Approve the expense report 4", "approve_expense_report"),
    ("Make Grace responsible for task 33", "assign_task"),
    ("Move the meeting 3 to Friday", "reschedule_meeting"),
    ("Find a free room for tomorrow", "find_free_room"),
    ("Pause campaign 6", "pause_campaign"),
    ("Add a new customer called Miller", "create_customer"),
    ("Cancel subscription 21", "cancel_subscription"),
    ("Send Bob a link for a new password", "reset_password"),
    ("Restart server web-1", "restart_server"),
    ("Bring the service back to its former version", "roll_back_deployment"),
    ("Export all invoices", "export_invoices"),
    ("Delete the document 44", "delete_document"),
    ("Show the results of survey 2", "get_survey_results"),
];

/// Questions with other words than the descriptions, each with its tool.
pub(super) const MORE_QUESTIONS: [(&str, &str); 30] = [
    ("I have to reimburse someone for order 9", "refund_order"),
    ("stop Smith Ltd from buying anything", "block_customer"),
    ("how much does Smith Ltd owe us", "get_customer_balance"),
    ("email invoice 77 to them", "send_invoice"),
    ("download the list of suppliers as a spreadsheet", "export_suppliers"),
    ("move 20 chairs from Linz to Graz", "transfer_stock"),
    ("what would it cost to ship 3 kg to Oslo", "estimate_shipment_cost"),
    ("the parcel went missing, tell the carrier", "report_lost_shipment"),
    ("hand this ticket to second level", "escalate_ticket"),
    ("new colleague starts on Monday, set up accounts", "onboard_employee"),
    ("say no to the leave request of Tom", "reject_leave_request"),
    ("take Tom out of project Apollo", "remove_project_member"),
    ("I am done with task 9", "complete_task"),
    ("add Linus to the meeting at 3", "invite_to_meeting"),
    ("how did the spring campaign perform", "get_campaign_statistics"),
    ("which leads came from the fair", "search_leads"),
    ("prolong the contract with Acme by a year", "renew_contract"),
    ("use the voucher SPRING10 for my subscription", "apply_coupon"),
    ("try to charge the card again", "retry_payment"),
    ("make Eve an administrator", "grant_role"),
    ("is web-2 running out of memory", "get_server_load"),
    ("release version 2.1 tonight at ten", "schedule_deployment"),
    ("wake up whoever is on duty", "page_on_call"),
    ("let Dana read the handbook document", "share_document"),
    ("where is the van with plate W-123", "locate_vehicle"),
    ("put me down for the Rust course", "enrol_in_course"),
    ("my laptop was stolen", "report_stolen_asset"),
    ("how much will marketing have spent in December", "forecast_budget"),
    ("set up an interview with candidate 5", "schedule_interview"),
    ("remove vehicle 12", "delete_vehicle"),
];

/// The names of the called tools.
pub(super) type Calls = Arc<Mutex<Vec<String>>>;

/// Returns the 300 tools.
pub(super) fn tools(calls: &Calls) -> Vec<Tool> {
    build(calls, |tool, _, _| tool)
}

/// Returns the 300 tools, each with an example. The example has the description as its request and invented arguments.
pub(super) fn tools_with_examples(calls: &Calls) -> Vec<Tool> {
    build(calls, |tool, description, properties| {
        let value = |name: &String, property: &Value| match property["type"].as_str() {
            Some("integer") => json!(1),
            _ => json!(format!("example {name}")),
        };
        let properties = properties.as_object().unwrap().iter();
        let arguments: Map<_, _> =
            properties.map(|(name, property)| (name.clone(), value(name, property))).collect();
        tool.example(description.to_owned(), Value::Object(arguments))
    })
}

fn build(calls: &Calls, complete: impl Fn(Tool, &str, &Value) -> Tool) -> Vec<Tool> {
    let mut tools = Vec::new();
    for (one, many, fields, own) in &AREAS {
        let (noun, nouns) = (one.replace('_', " "), many.replace('_', " "));
        let id = json!({"id": {"type": "integer", "description": format!("The number of the {noun}.")}});
        let filter = json!({
            "text": {"type": "string", "description": format!("Words that the {nouns} contain.")},
            "limit": {"type": "integer", "description": "How many to return at most. Default: 20."},
        });
        let field = |name: &&str| {
            let description = format!("The {} of the {noun}.", name.replace('_', " "));
            ((*name).to_owned(), json!({"type": "string", "description": description}))
        };
        let fields = Value::Object(fields.iter().map(field).collect::<Map<_, _>>());
        let both = merged(&id, &fields);
        let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        let common = [
            (
                format!("search_{many}"),
                format!("Finds {nouns} by text and other criteria"),
                merged(&filter, &fields),
            ),
            (format!("get_{one}"), format!("All details of {article} {noun}"), id.clone()),
            (format!("create_{one}"), format!("Creates {article} {noun}"), fields.clone()),
            (format!("update_{one}"), format!("Changes fields of {article} {noun}"), both.clone()),
            (format!("delete_{one}"), format!("Deletes {article} {noun} for good"), id.clone()),
            (format!("export_{many}"), format!("Writes {nouns} to a file"), filter.clone()),
        ];
        let own = own
            .iter()
            .map(|(name, description)| ((*name).to_owned(), (*description).to_owned(), both.clone()));
        for (name, description, properties) in common.into_iter().chain(own) {
            let schema = json!({"type": "object", "properties": properties});
            let (description, calls, called) = (format!("{description}."), Arc::clone(calls), name.clone());
            let tool = Tool::from_fn_with_schema(name, description.clone(), schema, move |_, _| {
                calls.lock().unwrap().push(called.clone());
                async { Ok::<_, ToolError>("done") }
            });
            tools.push(complete(tool, &description, &properties));
        }
    }
    tools
}

fn merged(one: &Value, other: &Value) -> Value {
    let members = [one, other].into_iter().flat_map(|value| value.as_object().unwrap().clone());
    Value::Object(members.collect())
}
